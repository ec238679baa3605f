// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/local_steps.hpp"

#include "chorus/sync/every_step.hpp"
#include "suites/expected_error.hpp"
#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

#include <vector>

using chorus::local_steps;
using chorus::rank_id;
using chorus::step_id;

namespace {

std::vector<step_id> averages(local_steps const& policy, step_id steps) {
    std::vector<step_id> found;
    for (step_id step = 0; step < steps; ++step)
        if (policy.at(step, 0, 3).members.size() > 1) found.push_back(step);
    return found;
}

}  // namespace

TEST_CASE("local_steps: all laws of a policy") {
    for (step_id period : {1u, 2u, 4u, 7u})
        for (step_id offset = 0; offset < period; ++offset)
            suites::policy_suite(local_steps{.period = period, .offset = offset}, {.is_exact = [](rank_id) { return true; }});
}

TEST_CASE("SYN-1: local_steps averages after local updates 4, 8 and 12 of 12, or with an offset after 1, 5 and 9") {
    CHECK(averages({.period = 4}, 12) == std::vector<step_id>{3, 7, 11});
    CHECK(averages({.period = 4, .offset = 1}, 12) == std::vector<step_id>{0, 4, 8});
    CHECK(averages({.period = 4, .offset = 3}, 12) == std::vector<step_id>{2, 6, 10});
}

TEST_CASE("local_steps with period 1 is every_step") {
    for (rank_id size = 1; size <= 17; ++size)
        for (step_id step = 0; step < 5; ++step)
            CHECK(local_steps{}.at(step, size - 1, size) == chorus::every_step{}.at(step, size - 1, size));
}

TEST_CASE("local_steps: periods that cannot be") {
    using suites::unlike;
    auto const bad = chorus::errc::invalid_argument;
    CHECK(unlike(bad, {"local_steps", "every 0 steps"}, [] { local_steps{.period = 0}.at(0, 0, 1); }) == "");
    CHECK(unlike(bad, {"local_steps", "offset 4", "the 4 steps"}, [] { local_steps{.period = 4, .offset = 4}.at(0, 0, 1); }) == "");
}
