// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "pattern.hpp"
#include "settings.hpp"

#include <chorus/schedule/algorithm.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace bench {

/// The memory of one rank for one collective at one size: fills it for each call and counts what came out wrong.
///
/// The whole vector has `count` elements, a multiple of the number of ranks where every rank has a block. `input` is
/// what this rank contributes and `output` what it must have afterwards, each a part of the whole that starts at some
/// element; either may be empty. In place, the smaller one lies in the larger where it belongs.
template <class Element>
class vectors {
 public:
    vectors(settings const& asked, chorus::rank_id me, std::uint64_t count)
        : asked_{asked}, pattern_{asked.op, asked.ranks}, me_{me}, block_{count / asked.ranks} {
        using chorus::collective;
        bool const is_root = me == asked.root;
        bool const gathers = asked.what == collective::all_gather || asked.what == collective::gather;
        bool const scatters = asked.what == collective::reduce_scatter || asked.what == collective::scatter;
        bool const gives = is_root || (asked.what != collective::broadcast && asked.what != collective::scatter);
        bool const gets = is_root || (asked.what != collective::reduce && asked.what != collective::gather);
        input_at_ = gathers ? block_ * me : 0;
        output_at_ = scatters ? block_ * me : 0;
        std::uint64_t const in_count = !gives ? 0 : gathers ? block_ : count;
        std::uint64_t const out_count = !gets ? 0 : scatters ? block_ : count;
        shared_ = asked.what == collective::broadcast || (asked.in_place && in_count > 0 && out_count > 0);
        larger_.resize(shared_ ? (std::max)(in_count, out_count) : in_count);
        if (!shared_) separate_.resize(out_count);
        std::span<Element> const whole{larger_};
        input_ = shared_ && gathers ? whole.subspan(input_at_, in_count) : whole.first(in_count);
        if (!shared_) output_ = separate_;
        else output_ = scatters ? whole.subspan(output_at_, out_count) : whole;
    }
    vectors(vectors const&) = delete;

    std::span<Element> input() noexcept { return input_; }
    std::span<Element> output() noexcept { return output_; }
    /// Where input and output share memory: all of it.
    std::span<Element> whole() noexcept { return larger_; }

    /// Writes the inputs of call number `call`, and 127 where results will be: no result has that value.
    void fill(std::uint64_t call) {
        std::fill(larger_.begin(), larger_.end(), to_element(127));
        std::fill(separate_.begin(), separate_.end(), to_element(127));
        auto const values = tabulate([&](std::uint64_t place) { return pattern_.value(me_, place, call); });
        for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = values[(input_at_ + i) % pattern::period];
    }

    /// Flips the bits of one byte of the output, if there is any.
    void spoil() {
        if (output_.empty()) return;
        std::byte byte{};
        Element& victim = output_[output_.size() / 2];
        std::memcpy(&byte, &victim, 1);
        byte = ~byte;
        std::memcpy(&victim, &byte, 1);
    }

    /// How many elements of the output are not, bit for bit, what call number `call` must give.
    std::uint64_t count_wrong(std::uint64_t call) const {
        using chorus::collective;
        std::uint64_t const count = output_.size();
        switch (asked_.what) {
            case collective::all_reduce:
            case collective::reduce:
            case collective::reduce_scatter: return count_unlike(0, count, output_at_, reduction(asked_.ranks, call));
            case collective::scan: return count_unlike(0, count, 0, reduction(me_ + 1, call));
            case collective::exclusive_scan: return me_ == 0 ? 0 : count_unlike(0, count, 0, reduction(me_, call));
            case collective::broadcast:
            case collective::scatter: return count_unlike(0, count, output_at_, contribution(asked_.root, call));
            case collective::all_gather:
            case collective::gather:
            case collective::all_to_all: return count == 0 ? 0 : count_wrong_blocks(call);
            case collective::barrier: return 0;
        }
        return 0;
    }

 private:
    using table = std::vector<Element>;

    static Element to_element(int value) { return static_cast<Element>(static_cast<float>(value)); }

    template <class Value>
    static table tabulate(Value value) {
        table values;
        for (std::uint64_t place = 0; place < pattern::period; ++place) values.push_back(to_element(value(place)));
        return values;
    }

    table reduction(chorus::rank_id ranks, std::uint64_t call) const {
        return tabulate([&](std::uint64_t place) { return pattern_.reduced(0, ranks, place, call); });
    }
    table contribution(chorus::rank_id rank, std::uint64_t call) const {
        return tabulate([&](std::uint64_t place) { return pattern_.value(rank, place, call); });
    }

    /// Block b of the output comes from rank b: its own block, or of all_to_all the one meant for this rank.
    std::uint64_t count_wrong_blocks(std::uint64_t call) const {
        std::uint64_t wrong = 0;
        for (chorus::rank_id b = 0; b < asked_.ranks; ++b) {
            chorus::rank_id const theirs = asked_.what == chorus::collective::all_to_all ? me_ : b;
            wrong += count_unlike(block_ * b, block_, block_ * theirs, contribution(b, call));
        }
        return wrong;
    }

    /// Compares output[first ... first + count - 1] with the pattern from element `at` of the whole on.
    std::uint64_t count_unlike(std::uint64_t first, std::uint64_t count, std::uint64_t at, table const& right) const {
        std::uint64_t wrong = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            Element const& expected = right[(at + i) % pattern::period];
            if (std::memcmp(&output_[first + i], &expected, sizeof(Element)) != 0) ++wrong;
        }
        return wrong;
    }

    settings const& asked_;
    pattern pattern_;
    chorus::rank_id me_;
    std::uint64_t block_;
    std::uint64_t input_at_ = 0;
    std::uint64_t output_at_ = 0;
    bool shared_ = false;
    std::vector<Element> larger_;
    std::vector<Element> separate_;
    std::span<Element> input_;
    std::span<Element> output_;
};

}  // namespace bench
