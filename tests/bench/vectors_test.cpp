// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/vectors.hpp"

#include <doctest/doctest.h>

#include <chorus/data/element.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

using bench::call_shape;
using bench::operation;
using bench::vectors;
using chorus::collective;

// One element type is enough for these laws, so the table of all of them (element_kind.cpp) is not linked.
namespace {

void write(int value, std::byte* where) {
    auto const element = static_cast<std::int16_t>(value);
    std::memcpy(where, &element, sizeof element);
}
double read(std::byte const* where) {
    std::int16_t element{};
    std::memcpy(&element, where, sizeof element);
    return element;
}
constexpr bench::element_kind int16{"int16", 2, write, read, nullptr};

std::vector<int> elements(std::span<std::byte const> memory) {
    std::vector<int> all;
    for (std::size_t i = 0; i < memory.size(); i += 2) all.push_back(static_cast<int>(read(memory.data() + i)));
    return all;
}
void put(std::span<std::byte> memory, std::size_t at, int value) { write(value, memory.data() + 2 * at); }

/// All ranks' memory, and the collective done by hand.
struct world {
    explicit world(call_shape const& of) : shape{of} {
        for (chorus::rank_id r = 0; r < of.ranks; ++r) ranks.push_back(std::make_unique<vectors>(of, r));
    }

    void perform(std::uint64_t call) {
        std::vector<std::vector<int>> in;
        for (auto& each : ranks) each->fill(call);
        for (auto& each : ranks) in.push_back(elements(each->input()));
        for (chorus::rank_id r = 0; r < shape.ranks; ++r) {
            std::span<std::byte> const out = ranks[r]->output();
            chorus::blocks const cut = shape.cut(r);
            for (std::size_t i = 0; i < out.size() / 2; ++i) put(out, i, result(in, r, i, cut));
        }
    }

    int result(std::vector<std::vector<int>> const& in, chorus::rank_id r, std::size_t i, chorus::blocks const& cut) const {
        chorus::rank_id block = 0;
        while (block + 1 < shape.ranks && cut.begin(block + 1) <= i) ++block;
        std::size_t const within = i - cut.begin(block);
        auto sum = [&](chorus::rank_id last, std::size_t at) {
            int total = 0;
            for (chorus::rank_id p = 0; p < last; ++p) total += in[p][at];
            return total;
        };
        switch (shape.what) {
            case collective::all_reduce:
            case collective::reduce: return sum(shape.ranks, i);
            case collective::reduce_scatter: return sum(shape.ranks, cut.begin(r) + i);
            case collective::scan: return sum(r + 1, i);
            case collective::exclusive_scan: return sum(r, i);
            case collective::broadcast: return in[shape.root][i];
            case collective::scatter: return in[shape.root][cut.begin(r) + i];
            case collective::all_gather:
            case collective::gather: return in[block][within];
            case collective::all_to_all: return in[block][shape.cut(block).begin(r) + within];
            case collective::barrier: return 0;
        }
        return 0;
    }

    call_shape shape;
    std::vector<std::unique_ptr<vectors>> ranks;
};

constexpr collective all_with_memory[] = {
    collective::all_reduce, collective::reduce_scatter, collective::all_gather, collective::broadcast, collective::reduce,
    collective::gather,     collective::scatter,        collective::all_to_all, collective::scan,      collective::exclusive_scan};

}  // namespace

TEST_CASE("what each collective gives is taken for right, the result of another call and any changed element for wrong") {
    for (collective what : all_with_memory)
        for (chorus::rank_id ranks : {1u, 2u, 3u, 5u})
            for (bool in_place : {false, true})
                for (bool uneven : {false, true}) {
                    if (what == collective::all_to_all && in_place) continue;
                    if (uneven && !chorus::has_block_per_rank(what)) continue;
                    CAPTURE(chorus::to_string(what));
                    world w{{.what = what, .ranks = ranks, .root = ranks - 1, .element = &int16, .count = 60ull * ranks,
                             .in_place = in_place, .by_counts = uneven, .uneven = uneven, .unaligned = 1}};
                    w.perform(3);
                    for (chorus::rank_id r = 0; r < ranks; ++r) {
                        vectors& mine = *w.ranks[r];
                        bool const unspecified = what == collective::exclusive_scan && r == 0;
                        if (mine.output().empty() || unspecified) {
                            CHECK(mine.count_wrong(3) == 0);
                            continue;
                        }
                        REQUIRE(mine.count_wrong(3) == 0);
                        REQUIRE(mine.count_wrong(4) > 0);
                        mine.spoil();
                        std::size_t told = 0;
                        REQUIRE(mine.count_wrong(3, [&](std::uint64_t place, double expected, double found) {
                            ++told;
                            CHECK(place < mine.output().size() / 2);
                            CHECK(expected != found);
                        }) == 1);
                        CHECK(told == 1);
                    }
                }
}

TEST_CASE("before the call nothing is right that the call must write") {
    for (collective what : all_with_memory) {
        world w{{.what = what, .ranks = 3, .root = 1, .element = &int16, .count = 180}};
        for (auto& each : w.ranks) each->fill(7);
        CAPTURE(chorus::to_string(what));
        vectors& mine = *w.ranks[what == collective::broadcast || what == collective::scatter ? 2 : 1];
        CHECK(mine.count_wrong(7) == mine.output().size() / 2);
    }
}
