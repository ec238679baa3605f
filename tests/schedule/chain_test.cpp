// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/chain.hpp"

#include "suites/algorithm_suite.hpp"
#include "suites/plan_arithmetic.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace chorus;
using testing::moved;

static_assert(chain{}.broadcast(0, 5, 2).rounds() == 11);

TEST_CASE("WSZ-1, HUG-2: chain: all laws of an algorithm") {
    suites::algorithm_suite(chain{});
    suites::algorithm_suite(chain{.segments = 1});
    suites::algorithm_suite(chain{.segments = 3});
}

TEST_CASE("the vector passes each rank once, whatever the number of segments, also with fewer elements than segments") {
    for (rank_id segments : {1u, 2u, 8u, 40u})
        for (std::uint64_t count : {0u, 1u, 7u, 40u, 1031u})
            for (rank_id size = 1; size <= 9; ++size)
                for (rank_id root = 0; root < size; ++root)
                    for (rank_id me = 0; me < size; ++me) {
                        chain const by{.segments = segments};
                        blocks const cut = blocks::near_equal(count, segments);
                        auto const down = moved(by.broadcast(me, size, root), cut);
                        bool const is_last = (me + 1) % size == root;
                        REQUIRE(down.received == (me == root ? 0 : count));
                        REQUIRE(down.sent == (is_last ? 0 : count));
                        auto const up = moved(by.reduce(me, size, root), cut);
                        REQUIRE(up.sent == (me == root ? 0 : count));
                        bool const first = me == 0, last = me + 1 == size;
                        std::uint64_t const arms = me == root ? 2u - first - last : first || last ? 0u : 1u;
                        REQUIRE(up.received == arms * count);
                    }
}

TEST_CASE("reduce takes as many rounds as its longer arm asks for") {
    for (rank_id size = 2; size <= 17; ++size)
        for (rank_id root = 0; root < size; ++root) {
            rank_id const arm = root > size - 1 - root ? root : size - 1 - root;
            CHECK(chain{.segments = 5}.reduce(0, size, root).rounds() == arm + 4);
        }
}

TEST_CASE("no segments are one segment") {
    CHECK(chain{.segments = 0}.broadcast(1, 4, 0) == chain{.segments = 1}.broadcast(1, 4, 0));
}

TEST_CASE("HUG-2: 4096 ranks, 100 and 2^33 elements") {
    for (std::uint64_t count : {std::uint64_t{100}, std::uint64_t{1} << 33})
        for (rank_id me : {0u, 1u, 2047u, 4094u}) {
            blocks const cut = blocks::near_equal(count, 8);
            CHECK(moved(chain{}.broadcast(me, 4096, 4095), cut).received == count);
            CHECK(moved(chain{}.reduce(me, 4096, 4095), cut).sent == count);
        }
    CHECK(chain{}.broadcast_cost(4096, 1.0).rounds == 4102);
}
