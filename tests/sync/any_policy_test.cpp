// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/any_policy.hpp"

#include "chorus/sync/divide_and_shuffle.hpp"
#include "chorus/sync/every_step.hpp"
#include "chorus/sync/spaced.hpp"
#include "chorus/sync/uneven_steps.hpp"
#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

using chorus::any_policy;
using chorus::divide_and_shuffle;

TEST_CASE("any_policy: all laws of a policy") {
    suites::policy_suite(any_policy{divide_and_shuffle{.groups = 3}});
    suites::policy_suite(any_policy{chorus::spaced{2, any_policy{chorus::every_step{}}}});
}

TEST_CASE("any_policy: says what is inside, and is equal if it says the same") {
    any_policy const policy{divide_and_shuffle{.groups = 3, .seed = 9}};
    CHECK(policy.kind() == "divide_and_shuffle");
    CHECK(policy.describe() == "divide_and_shuffle(groups=3, seed=9)");
    CHECK(policy == any_policy{divide_and_shuffle{.groups = 3, .seed = 9}});
    CHECK(!(policy == any_policy{divide_and_shuffle{.groups = 3}}));
    CHECK(policy.at(2, 4, 7) == divide_and_shuffle{.groups = 3, .seed = 9}.at(2, 4, 7));
    CHECK(policy.period(7) == 16);
    CHECK(!policy.counts_own_steps());
    CHECK(policy.in_rounds() == policy);
}

TEST_CASE("any_policy: ranks that count their own steps, also within another") {
    any_policy const own{chorus::uneven_steps{.steps = {1, 3}}};
    CHECK(own.counts_own_steps());
    CHECK(own.in_rounds().at(0, 1, 2).members.size() == 2);
    any_policy const within{chorus::spaced{2, own}};
    CHECK(within.describe() == "spaced(uneven_steps(steps=1+3), every=2)");
    CHECK(within.in_rounds().at(1, 1, 2).members.size() == 2);
    CHECK(chorus::contraction(within, 2) < 1e-7);
}
