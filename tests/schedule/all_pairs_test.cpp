// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/all_pairs.hpp"

#include "suites/algorithm_suite.hpp"

#include <doctest/doctest.h>

using chorus::rank_id;

TEST_CASE("WSZ-1: all_pairs keeps all laws of an algorithm") { suites::algorithm_suite(chorus::all_pairs{}); }

TEST_CASE("every rank folds all operands in rank order, its own at its own place") {
    for (rank_id size = 2; size <= 17; ++size)
        for (rank_id me = 0; me < size; ++me) {
            chorus::schedule const s = chorus::all_pairs{}.all_reduce(me, size);
            chorus::step const& last = s.steps().back();
            REQUIRE(last.kind == chorus::step_kind::fold);
            CHECK(last.position == me);
            CHECK(last.other.count == size - 1);
        }
}
