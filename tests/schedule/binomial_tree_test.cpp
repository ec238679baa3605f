// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/binomial_tree.hpp"

#include "suites/algorithm_suite.hpp"
#include "suites/plan_arithmetic.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace chorus;
using testing::moved;
using testing::traffic;

static_assert(binomial_tree{}.broadcast(0, 5, 2).rounds() == 3);

namespace {

/// Scatter leaves every rank with its own block, gather takes it from there; nothing else is created or lost.
void check_scatter_and_gather(std::uint64_t count, rank_id size, rank_id root) {
    blocks const cut = blocks::near_equal(count, size);
    for (rank_id me = 0; me < size; ++me) {
        traffic const down = moved(binomial_tree{}.scatter(me, size, root), cut);
        traffic const up = moved(binomial_tree{}.gather(me, size, root), cut);
        if (me == root) REQUIRE(down.sent == count - cut.length(me));
        else REQUIRE(down.received - down.sent == cut.length(me));
        REQUIRE(up == traffic{down.received, down.sent, down.rounds});
    }
}

}  // namespace

TEST_CASE("WSZ-1, HUG-2: binomial_tree: all laws of an algorithm") {
    suites::algorithm_suite(binomial_tree{});
}

TEST_CASE("CNT-4: scatter, gather and broadcast plans of 2^31 + 3 bytes") {
    std::uint64_t const count = (std::uint64_t{1} << 31) + 3;
    for (rank_id size : {3u, 5u})
        for (rank_id root = 0; root < size; ++root) {
            check_scatter_and_gather(count, size, root);
            for (rank_id me = 0; me < size; ++me) {
                traffic const all = moved(binomial_tree{}.broadcast(me, size, root), blocks::near_equal(count, 1));
                CHECK(all.received == (me == root ? 0 : count));
            }
        }
}

TEST_CASE("HUG-2: trees of 4096 ranks") {
    rank_id const size = 4096;
    for (std::uint64_t count : {std::uint64_t{100}, std::uint64_t{1} << 33})
        for (rank_id root : {0u, 1000u, 4095u}) check_scatter_and_gather(count, size, root);
    CHECK(moved(binomial_tree{}.broadcast(7, size, 7), blocks::near_equal(100, 1)) == traffic{1200, 0, 12});
    CHECK(moved(binomial_tree{}.reduce(7, size, 7), blocks::near_equal(100, 1)) == traffic{0, 1200, 12});
    CHECK(moved(binomial_tree{}.all_reduce(0, size), blocks::near_equal(100, 1)) == traffic{1200, 1200, 24});
}

TEST_CASE("uneven blocks: a message is as long as its subtree's blocks") {
    std::uint64_t const counts[] = {7, 0, 0, 12, 1, 0, 3};
    blocks const cut = blocks::of_counts(counts);
    for (rank_id root = 0; root < 7; ++root)
        for (rank_id me = 0; me < 7; ++me) {
            traffic const up = moved(binomial_tree{}.gather(me, 7, root), cut);
            if (me == root) CHECK(up.received == 23 - counts[me]);
            else CHECK(up.sent == up.received + counts[me]);
        }
}
