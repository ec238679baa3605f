// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/find_cliffs.hpp"

#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace chorus;

namespace {

selection_table read(std::string const& text) {
    std::istringstream lines{"chorus-table 1\n" + text};
    return selection_table::read(lines);
}

std::vector<std::uint64_t> doubling(std::uint64_t from, std::uint64_t to) {
    std::vector<std::uint64_t> sizes;
    for (; from <= to; from *= 2) sizes.push_back(from);
    return sizes;
}

std::string told(std::vector<cliff> const& found) {
    std::string all;
    for (cliff const& one : found) all += to_string(one) + '\n';
    return all;
}

}  // namespace

TEST_CASE("the built-in choices have no cliffs: twice the bytes take as long or longer, and at most twice as long") {
    std::vector<std::uint64_t> const sizes = doubling(4, 64u << 20);
    for (collective operation : all_collectives)
        for (rank_id ranks = 2; ranks <= 17; ++ranks)
            for (bool needs_order : {false, true}) {
                if (needs_order && !has_reduction(operation)) continue;
                auto const found = find_cliffs(automatic{}, {operation, ranks, 0, {}, needs_order}, sizes);
                CHECK_MESSAGE(found.empty(), told(found));
            }
}

TEST_CASE("nor have those of ranks that take turns on cores") {
    std::vector<std::uint64_t> const sizes = doubling(4, 64u << 20);
    for (collective operation : all_collectives)
        for (rank_id ranks : {2u, 3u, 4u, 7u, 8u, 9u})
            for (rank_id cores : {1u, 2u, 3u}) {
                auto const found = find_cliffs(automatic{}, {operation, ranks, 0, {}, false, false, cores}, sizes);
                CHECK_MESSAGE(found.empty(), told(found));
            }
}

TEST_CASE("a cliff that a table plants in the expected times is found at the size where it is") {
    std::vector<std::uint64_t> const sizes = doubling(4, 16u << 20);
    auto const with = [](char const* row) { return automatic::with(read(row)); };
    auto const jump = find_cliffs(with("broadcast * 16 512..* chain(segments=400)\n"), {collective::broadcast, 16}, sizes);
    REQUIRE(jump.size() == 1);
    CHECK(jump[0].what == cliff::kind::jumps);
    CHECK(jump[0].larger_bytes == 512);
    CHECK(jump[0].smaller_bytes == 256);
    CHECK(jump[0].larger.algorithm.describe() == "chain(segments=400)");
    auto const fall = find_cliffs(with("broadcast * 16 0..511 chain(segments=400)\n"), {collective::broadcast, 16}, sizes);
    REQUIRE(!fall.empty());
    for (cliff const& one : fall) {
        CHECK(one.what == cliff::kind::falls);
        CHECK(one.smaller_bytes == 256);
        CHECK(one.larger_bytes >= 512);
    }
}

TEST_CASE("cliffs in what was measured") {
    std::string const rows =
        "all_reduce shm 4 0..1000 direct\n"
        "all_reduce shm 4 1001..* ring\n"
        "all_reduce shm 2 * ring\n";
    std::string const smooth =
        "measured all_reduce shm 4 4000 18.5 ring | 40 direct\n"
        "measured all_reduce shm 4 1000 5 direct | 5.2 ring\n"
        "measured all_reduce shm 4 2000 10 ring\n"
        "measured all_reduce shm 2 2000 1 ring\n"
        "measured all_reduce shm 3 4000 1 ring\n"
        "measured all_reduce thread 4 1000 99 direct\n"
        "measured barrier shm 4 0 2 dissemination\n";
    CHECK_MESSAGE(find_cliffs(read(rows + smooth)).empty(), told(find_cliffs(read(rows + smooth))));

    auto const jump = find_cliffs(read(rows + smooth + "measured all_reduce shm 4 8000 41 ring\n"));
    REQUIRE(jump.size() == 1);
    CHECK(jump[0].what == cliff::kind::jumps);
    CHECK(to_string(jump[0]) == "all_reduce on 4 ranks over shm: 8000 bytes take 41 us by ring, more than the bytes explain: 4000 bytes take 18.5 us by ring");

    auto const fall = find_cliffs(read(rows + smooth + "measured all_reduce shm 4 5000 16.7 ring\n"));
    REQUIRE(fall.size() == 1);
    CHECK(fall[0].what == cliff::kind::falls);
    CHECK(fall[0].smaller_bytes == 4000);
    CHECK(find_cliffs(read(rows + smooth + "measured all_reduce shm 4 5000 16.9 ring\n")).empty());
    CHECK(find_cliffs(read(rows + smooth + "measured all_reduce shm 4 5000 16.7 ring\n"), 0.2).empty());

    auto const slow_decay = find_cliffs(read(rows + smooth +
                                             "measured all_reduce shm 4 5000 17.5 ring\n"
                                             "measured all_reduce shm 4 6000 16.5 ring\n"));
    REQUIRE(slow_decay.size() == 1);
    CHECK(slow_decay[0].smaller_bytes == 4000);
    CHECK(slow_decay[0].larger_bytes == 6000);

    auto const beaten = find_cliffs(read(rows + smooth + "measured all_reduce shm 4 500 5 direct | 4 recursive_doubling\n"));
    REQUIRE(beaten.size() == 1);
    CHECK(beaten[0].what == cliff::kind::beaten);
    CHECK(to_string(beaten[0]) == "all_reduce on 4 ranks over shm: 500 bytes take 5 us by direct, but 4 us by recursive_doubling");
}
