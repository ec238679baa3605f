// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/pairs_hypercube.hpp"

#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

#include <bit>

TEST_CASE("pairs_hypercube: all laws of a policy, the exact mean of powers of two") {
    suites::policy_suite(chorus::pairs_hypercube{}, {.is_exact = [](chorus::rank_id p) { return std::has_single_bit(p); }});
}

TEST_CASE("pairs_hypercube: groups of two at most, as many steps as bits") {
    CHECK(chorus::pairs_hypercube{}.at(1, 3, 8) == chorus::membership{{1, 3}, {}});
    CHECK(chorus::pairs_hypercube{}.at(1, 4, 6) == chorus::membership{{4}, {}});
    CHECK(chorus::pairs_hypercube{}.period(16) == 4);
    CHECK(chorus::pairs_hypercube{}.period(17) == 5);
}
