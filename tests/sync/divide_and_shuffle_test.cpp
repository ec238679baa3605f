// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/divide_and_shuffle.hpp"

#include "chorus/sync/every_step.hpp"
#include "suites/expected_error.hpp"
#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>

using chorus::divide_and_shuffle;
using chorus::rank_id;
using chorus::step_id;

TEST_CASE("divide_and_shuffle: all laws of a policy") {
    for (rank_id groups : {1u, 2u, 3u, 4u, 8u})
        suites::policy_suite(divide_and_shuffle{.groups = groups, .seed = groups}, {.is_exact = [](rank_id p) { return p < 4; }});
    suites::policy_suite(divide_and_shuffle{.cycle = 0}, {.serves = [](rank_id p) { return p > 3; }, .looked_at = 20});
}

TEST_CASE("GRP-3, SYN-4: groups that do not divide the world differ by one rank at most, no rank is lost, and all ranks mix") {
    for (rank_id size = 4; size <= 9; ++size) {
        for (rank_id groups : {2u, 3u}) {
            rank_id const made = (std::min)(groups, size / 2);
            divide_and_shuffle const policy{.groups = groups, .seed = 5, .cycle = 64};
            for (step_id step = 0; step < 64; ++step) {
                suites::check_step(policy, step, size);
                auto const parts = chorus::partition_of(policy, step, size);
                CHECK(parts.size() == made);
                CHECK(std::count_if(parts.begin(), parts.end(), [&](auto const& g) {
                          return g.members.size() == size / made + 1;
                      }) == static_cast<std::ptrdiff_t>(size % made));
                for (auto const& each : parts) CHECK(each.members.size() - size / made <= 1);
            }
            chorus::expect_mixing(policy, size);
        }
    }
}

TEST_CASE("divide_and_shuffle: one group is every_step; seeds differ; steps differ") {
    CHECK(divide_and_shuffle{.groups = 1}.at(3, 2, 9) == chorus::every_step{}.at(3, 2, 9));
    int equal = 0;
    for (step_id step = 0; step < 16; ++step) {
        divide_and_shuffle const one{.groups = 4, .seed = 1}, other{.groups = 4, .seed = 2};
        equal += one.at(step, 0, 16) == other.at(step, 0, 16);
        equal += one.at(step, 0, 16) == one.at(step + 1, 0, 16);
    }
    CHECK(equal <= 2);
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"at least one group"},
                         [] { divide_and_shuffle{.groups = 0}.at(0, 0, 8); }) == "");
}
