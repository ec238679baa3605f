// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/dissemination.hpp"

#include "suites/algorithm_suite.hpp"

#include <doctest/doctest.h>

#include <bitset>
#include <vector>

using namespace chorus;

static_assert(dissemination{}.barrier(1, 5).rounds() == 3);

namespace {

/// After so many rounds, has every rank heard, directly or not, from every other?
bool all_heard(rank_id size, std::uint32_t rounds) {
    std::vector<std::bitset<128>> heard(size);
    for (rank_id me = 0; me < size; ++me) heard[me].set(me);
    for (std::uint32_t r = 0; r < rounds; ++r) {
        auto const before = heard;
        for (rank_id me = 0; me < size; ++me) {
            schedule const s = dissemination{}.barrier(me, size);
            for (std::uint32_t i = s.round_begin(r); i < s.round_begin(r + 1); ++i)
                if (s.steps()[i].kind == step_kind::recv) heard[me] |= before[s.steps()[i].peer];
        }
    }
    for (auto const& one : heard)
        if (one.count() != size) return false;
    return true;
}

}  // namespace

TEST_CASE("WSZ-1, HUG-2: dissemination: all laws of an algorithm") {
    suites::algorithm_suite(dissemination{});
}

TEST_CASE("after the last round everybody has heard of everybody, and not a round earlier") {
    for (rank_id size = 1; size <= 127; size += size < 64 ? 1 : 9) {
        CAPTURE(size);
        std::uint32_t const rounds = dissemination{}.barrier(0, size).rounds();
        CHECK(all_heard(size, rounds));
        if (rounds > 0) CHECK_FALSE(all_heard(size, rounds - 1));
    }
}

TEST_CASE("HUG-2: 4096 ranks need 12 rounds") {
    CHECK(dissemination{}.barrier(4095, 4096).rounds() == 12);
    CHECK(dissemination{}.barrier(4095, 4097).rounds() == 13);
    CHECK(dissemination{}.barrier_cost(4097).rounds == 13);
}
