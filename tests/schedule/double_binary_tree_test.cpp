// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/double_binary_tree.hpp"

#include "suites/algorithm_suite.hpp"
#include "suites/plan_arithmetic.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>

using namespace chorus;
using testing::moved;

static_assert(double_binary_tree{}.broadcast(0, 5, 2).rounds() == 10);

TEST_CASE("WSZ-1, HUG-2: double_binary_tree: all laws of an algorithm") {
    suites::algorithm_suite(double_binary_tree{});
    suites::algorithm_suite(double_binary_tree{.segments = 1});
    suites::algorithm_suite(double_binary_tree{.segments = 3});
}

TEST_CASE("full bandwidth: a broadcast or reduce moves the vector at most once out of any rank and once in") {
    for (rank_id segments : {1u, 3u, 8u})
        for (std::uint64_t count : {0u, 1u, 5u, 48u, 1031u})
            for (rank_id size = 2; size <= 20; ++size)
                for (rank_id root : {rank_id{0}, size / 2, size - 1})
                    for (rank_id me = 0; me < size; ++me) {
                        double_binary_tree const by{.segments = segments};
                        blocks const cut = blocks::near_equal(count, 2 * segments);
                        std::uint64_t const rest = count + segments;  // halves may differ by a remainder
                        auto const down = moved(by.broadcast(me, size, root), cut);
                        REQUIRE(down.received == (me == root ? 0 : count));
                        REQUIRE(down.sent <= rest);
                        auto const up = moved(by.reduce(me, size, root), cut);
                        REQUIRE(up.sent == (me == 0 && root == 0 ? 0 : count));
                        REQUIRE(up.received <= rest + (me == root && root != 0 ? count : 0));
                    }
}

TEST_CASE("depth is logarithmic, segments add one round each, a root other than rank 0 one more to a reduce") {
    for (rank_id size = 3; size <= 70; ++size) {
        rank_id const depth = static_cast<rank_id>(std::bit_width(size));
        double_binary_tree const by{.segments = 5};
        CHECK(by.broadcast(0, size, 1).rounds() == depth + 4);
        CHECK(by.reduce(0, size, 0).rounds() == depth + 4);
        CHECK(by.reduce(0, size, 1).rounds() == depth + 5);
        CHECK(by.all_reduce(0, size).rounds() == 2 * depth + 4);
    }
}

TEST_CASE("no segments are one segment") {
    CHECK(double_binary_tree{.segments = 0}.all_reduce(1, 4) == double_binary_tree{.segments = 1}.all_reduce(1, 4));
}

TEST_CASE("HUG-2: 4096 ranks, 100 and 2^33 elements") {
    for (std::uint64_t count : {std::uint64_t{100}, std::uint64_t{1} << 33}) {
        blocks const cut = blocks::near_equal(count, 16);
        std::uint64_t sent = 0, received = 0;
        for (rank_id me = 0; me < 4096; ++me) {
            auto const sum = moved(double_binary_tree{}.all_reduce(me, 4096), cut);
            sent += sum.sent;
            received += sum.received;
        }
        CHECK(sent == 2 * 4095 * count);
        CHECK(received == sent);
    }
}
