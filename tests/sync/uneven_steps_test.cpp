// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/uneven_steps.hpp"

#include "chorus/sync/local_steps.hpp"
#include "suites/expected_error.hpp"
#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using chorus::rank_id;
using chorus::step_id;
using chorus::uneven_steps;

namespace {

uneven_steps drawn(rank_id size, bool has_shares) {
    uneven_steps made;
    for (rank_id rank = 0; rank < size; ++rank) {
        made.steps.push_back(rank * 7 % 5 + 1);
        if (has_shares) made.shares.push_back(rank % 3 + 1);
    }
    return made;
}

}  // namespace

TEST_CASE("uneven_steps: everybody's n-th average is the same group with the same weights, at each rank's own step") {
    for (rank_id size = 1; size <= 17; ++size) {
        for (bool const has_shares : {false, true}) {
            uneven_steps const policy = drawn(size, has_shares);
            uneven_steps const rounds = policy.in_rounds();
            CHECK(rounds.period(size) == 1);
            suites::check_step(rounds, 0, size);
            CHECK(chorus::contraction(policy, size) < 1e-7);
            step_id const period = policy.period(size);
            for (rank_id rank = 0; rank < size; ++rank) {
                step_id round = 0;
                for (step_id step = 0; step < 40; ++step) {
                    auto const group = policy.at(step, rank, size);
                    CHECK(policy.at(step + period, rank, size) == group);
                    bool const meets = (step + 1) % policy.steps[rank] == 0;
                    CHECK(group == (meets ? rounds.at(round, rank, size) : chorus::membership{{rank}, {}}));
                    if (meets) ++round;
                }
            }
        }
    }
}

TEST_CASE("uneven_steps with equal steps is local_steps") {
    for (step_id step = 0; step < 20; ++step)
        CHECK(uneven_steps{.steps = {4, 4, 4}}.at(step, 1, 3) == chorus::local_steps{.period = 4}.at(step, 1, 3));
}

TEST_CASE("uneven_steps: weights are the shares of their sum") {
    auto const group = uneven_steps{.steps = {1, 1, 2}, .shares = {1, 2, 5}}.at(1, 2, 3);
    CHECK(group.weights == std::vector<double>{0.125, 0.25, 0.625});
    CHECK(uneven_steps{.steps = {4294967295u, 4294967294u, 4294967293u}}.period(3) == 0);
}

TEST_CASE("uneven_steps: what does not fit is refused") {
    using suites::unlike;
    auto const bad = chorus::errc::invalid_argument;
    CHECK(unlike(bad, {"steps of 2 ranks", "for 3"}, [] { uneven_steps{.steps = {1, 2}}.at(0, 0, 3); }) == "");
    CHECK(unlike(bad, {"rank 1 has 0 steps"}, [] { uneven_steps{.steps = {1, 0}}.period(2); }) == "");
    CHECK(unlike(bad, {"shares of 1"}, [] { uneven_steps{.steps = {1, 1}, .shares = {1}}.period(2); }) == "");
    CHECK(unlike(bad, {"all shares are 0"}, [] { uneven_steps{.steps = {1, 1}, .shares = {0, 0}}.period(2); }) == "");
}

TEST_CASE("steps_in_time: fast ranks make more steps, slow ones at least one") {
    std::vector<double> const rates{10.0, 5.0, 2.5, 0.1};
    CHECK(chorus::steps_in_time(rates, 2.0) == std::vector<std::uint32_t>{20, 10, 5, 1});
    std::vector<double> const bad{1.0, -1.0};
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"rank 1"}, [&] { chorus::steps_in_time(bad, 1.0); }) == "");
}
