// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/pairwise.hpp"

#include "suites/algorithm_suite.hpp"
#include "suites/plan_arithmetic.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace chorus;

static_assert(pairwise{}.all_to_all(1, 5).rounds() == 4);

namespace {

void check_peers(rank_id me, rank_id size) {
    schedule const s = pairwise{}.all_to_all(me, size);
    std::vector<rank_id> to(size, 0), from(size, 0);
    for (step const& next : s.steps()) {
        if (next.kind == step_kind::copy) {
            REQUIRE(next.local == block_range{me, 1});
            REQUIRE(next.other == block_range{me, 1, space::input});
            ++to[me];
            ++from[me];
        } else {
            bool const sends = next.kind == step_kind::send;
            REQUIRE(next.local == block_range{next.peer, 1, sends ? space::input : space::data});
            ++(sends ? to : from)[next.peer];
        }
    }
    CHECK(to == std::vector<rank_id>(size, 1));
    CHECK(from == std::vector<rank_id>(size, 1));
}

}  // namespace

TEST_CASE("WSZ-1, HUG-2: pairwise: all laws of an algorithm") {
    suites::algorithm_suite(pairwise{});
    suites::algorithm_suite(pairwise{.in_flight = 1});
}

TEST_CASE("each rank sends each block to its owner once and receives one from everybody, its own by a copy") {
    for (rank_id size = 1; size <= 17; ++size)
        for (rank_id me = 0; me < size; ++me) check_peers(me, size);
}

TEST_CASE("in a round no two ranks send to the same one") {
    for (rank_id size = 2; size <= 17; ++size)
        for (std::uint32_t r = 0; r < size - 1; ++r) {
            std::vector<rank_id> arrivals(size, 0);
            for (rank_id me = 0; me < size; ++me) {
                schedule const s = pairwise{}.all_to_all(me, size);
                for (std::uint32_t i = s.round_begin(r); i < s.round_begin(r + 1); ++i)
                    if (s.steps()[i].kind == step_kind::send) ++arrivals[s.steps()[i].peer];
            }
            CHECK(arrivals == std::vector<rank_id>(size, 1));
        }
}

TEST_CASE("HUG-2: 4096 ranks, 100 and 2^33 elements") {
    for (rank_id me : {0u, 1u, 2047u, 4095u}) {
        check_peers(me, 4096);
        for (std::uint64_t count : {std::uint64_t{100}, std::uint64_t{1} << 33}) {
            blocks const cut = blocks::near_equal(count, 4096);
            auto const sum = testing::moved(pairwise{}.all_to_all(me, 4096), cut);
            CHECK(sum == testing::traffic{count - cut.length(me), count - cut.length(me), 4095});
        }
    }
}
