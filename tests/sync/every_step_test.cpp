// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/every_step.hpp"

#include "suites/expected_error.hpp"
#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

using chorus::every_step;

TEST_CASE("every_step: all laws of a policy") {
    suites::policy_suite(every_step{}, {.is_exact = [](chorus::rank_id) { return true; }});
}

TEST_CASE("every_step: all ranks in one group") {
    CHECK(every_step{}.at(5, 1, 3) == chorus::membership{.members = {0, 1, 2}, .weights = {}});
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"every_step", "rank 3 is not below 3"},
                         [] { every_step{}.at(0, 3, 3); }) == "");
}
