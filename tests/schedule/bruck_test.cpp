// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/bruck.hpp"

#include "suites/algorithm_suite.hpp"
#include "suites/plan_arithmetic.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace chorus;

static_assert(bruck{}.all_gather(1, 5).rounds() == 3);
static_assert(bruck{}.all_to_all(1, 5).slots().size() == 4);

TEST_CASE("WSZ-1, HUG-2: bruck: all laws of an algorithm") {
    suites::algorithm_suite(bruck{});
}

TEST_CASE("WSZ-3: all-gather brings each block but the own one exactly once, from a rank that has it by then") {
    for (rank_id size : {1u, 2u, 3u, 5u, 6u, 7u, 12u, 16u, 17u}) {
        std::vector<std::vector<bool>> has(size, std::vector<bool>(size, false));
        std::vector<schedule> all;
        for (rank_id me = 0; me < size; ++me) {
            has[me][me] = true;
            all.push_back(bruck{}.all_gather(me, size));
        }
        for (std::uint32_t r = 0; r < all[0].rounds(); ++r) {
            auto const before = has;
            for (rank_id me = 0; me < size; ++me) {
                rank_id messages = 0;
                for (std::uint32_t i = all[me].round_begin(r); i < all[me].round_begin(r + 1); ++i) {
                    step const& next = all[me].steps()[i];
                    if (next.kind != step_kind::recv) continue;
                    ++messages;
                    for (rank_id b = next.local.first; b < next.local.end(); ++b) {
                        REQUIRE(before[next.peer][b]);
                        REQUIRE_FALSE(has[me][b]);
                        has[me][b] = true;
                    }
                }
                REQUIRE(messages >= 1);
                REQUIRE(messages <= 2);
            }
        }
        for (auto const& row : has)
            for (bool const arrived : row) CHECK(arrived);
    }
}

TEST_CASE("HUG-2: 4096 ranks, 100 and 2^33 elements") {
    rank_id const size = 4096;
    for (std::uint64_t count : {std::uint64_t{100}, std::uint64_t{1} << 33}) {
        blocks const cut = blocks::near_equal(count, size);
        for (rank_id me = 0; me < size; ++me) {
            auto const sum = testing::moved(bruck{}.all_gather(me, size), cut);
            REQUIRE(sum.received == count - cut.length(me));
            REQUIRE(sum.rounds == 12);
        }
    }
    schedule const s = bruck{}.all_to_all(5, size);
    rank_id blocks_sent = 0;
    for (step const& next : s.steps())
        if (next.kind == step_kind::send) blocks_sent += next.local.count;
    CHECK(blocks_sent == 12 * size / 2);
    CHECK(s.slots().size() == size);
    CHECK(s.steps().size() < 6 * size);
}
