// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/growing_steps.hpp"

#include "suites/expected_error.hpp"
#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

#include <vector>

using chorus::growing_steps;
using chorus::step_id;

namespace {

/// How many local updates are made before each average.
std::vector<step_id> lengths(growing_steps const& policy, step_id steps) {
    std::vector<step_id> found;
    step_id last = 0;
    for (step_id step = 0; step < steps; ++step) {
        if (policy.at(step, 1, 2).members.size() == 1) continue;
        found.push_back(step + 1 - last);
        last = step + 1;
    }
    return found;
}

}  // namespace

TEST_CASE("growing_steps: all laws of a policy") {
    suites::policy_suite(growing_steps{}, {.is_exact = [](chorus::rank_id) { return true; }, .looked_at = 70});
}

TEST_CASE("growing_steps: lengths grow by the factor up to the longest") {
    CHECK(lengths({.first = 1, .rounds = 1, .factor = 2, .longest = 8}, 32) == std::vector<step_id>{1, 2, 4, 8, 8, 8});
    CHECK(lengths({.first = 2, .rounds = 3, .factor = 3, .longest = 7}, 38) == std::vector<step_id>{2, 2, 2, 6, 6, 6, 7, 7});
    CHECK(lengths({.first = 1, .rounds = 4, .factor = 16, .longest = 16}, 36) == std::vector<step_id>{1, 1, 1, 1, 16, 16});
    CHECK(growing_steps{.rounds = ~step_id{0}}.at(~step_id{0} - 1, 0, 2).members.size() == 2);
}

TEST_CASE("growing_steps: what cannot grow") {
    for (growing_steps const& bad : {growing_steps{.first = 0}, growing_steps{.rounds = 0}, growing_steps{.factor = 1},
                                     growing_steps{.first = 65}})
        CHECK(suites::unlike(chorus::errc::invalid_argument, {"growing_steps"}, [&] { bad.at(0, 0, 1); }) == "");
}
