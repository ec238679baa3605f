// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/spaced.hpp"

#include "chorus/sync/divide_and_shuffle.hpp"
#include "chorus/sync/local_steps.hpp"
#include "chorus/sync/uneven_steps.hpp"
#include "suites/expected_error.hpp"
#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

using chorus::divide_and_shuffle;
using chorus::rank_id;
using chorus::spaced;
using chorus::step_id;

TEST_CASE("spaced: all laws of a policy") {
    suites::policy_suite(spaced{3, divide_and_shuffle{.groups = 2, .cycle = 8}});
    suites::policy_suite(spaced{3, chorus::every_step{}, 2}, {.is_exact = [](rank_id) { return true; }});
}

TEST_CASE("spaced: every fourth step is the next one of the other policy, all others are one's own") {
    divide_and_shuffle const inner{.groups = 4, .seed = 7};
    for (step_id offset = 0; offset < 4; ++offset) {
        spaced const policy{4, inner, offset};
        CHECK(policy.period(16) == 64);
        CHECK(chorus::contraction(policy, 16) == doctest::Approx(chorus::contraction(inner, 16)));
        step_id round = 0;
        for (step_id step = 0; step < 100; ++step) {
            bool const averages = step % 4 == (3 + offset) % 4;
            CHECK(policy.at(step, 5, 16) == (averages ? inner.at(round, 5, 16) : chorus::membership{{5}, {}}));
            if (averages) ++round;
        }
    }
}

TEST_CASE("spaced every_step is local_steps; once spaced is the other itself") {
    for (step_id step = 0; step < 30; ++step) {
        CHECK(spaced{5, chorus::every_step{}, 2}.at(step, 1, 4) == chorus::local_steps{.period = 5, .offset = 2}.at(step, 1, 4));
        CHECK(spaced{1, divide_and_shuffle{}}.at(step, 1, 9) == divide_and_shuffle{}.at(step, 1, 9));
    }
}

TEST_CASE("spaced: ranks that count their own steps still do") {
    spaced const policy{2, chorus::uneven_steps{.steps = {1, 3}}};
    CHECK(policy.at(1, 0, 2).members.size() == 2);
    CHECK(policy.at(1, 1, 2).members.size() == 1);
    CHECK(policy.at(5, 1, 2).members.size() == 2);
    CHECK(policy.in_rounds().at(1, 1, 2).members.size() == 2);
    CHECK(chorus::contraction(policy, 2) < 1e-7);
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"spaced", "every 0"},
                         [] { spaced{0, chorus::every_step{}}.at(0, 0, 1); }) == "");
}
