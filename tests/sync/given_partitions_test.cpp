// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/given_partitions.hpp"

#include "suites/expected_error.hpp"
#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

using chorus::given_partitions;
using chorus::membership;

namespace {

/// Two pairings of four ranks in turn.
given_partitions const square{.steps = {{{0, 1}, {2, 3}}, {{3, 0}, {1, 2}}}};

}  // namespace

TEST_CASE("given_partitions: all laws of a policy, the exact mean of four ranks after two pairings") {
    auto const four = [](chorus::rank_id p) { return p == 4; };
    suites::policy_suite(square, {.serves = four, .is_exact = four});
    CHECK(square.at(0, 2, 4) == membership{{2, 3}, {}});
    CHECK(chorus::contraction(square, 4, 1) > 0.999);
}

TEST_CASE("GRP-2: a group given in descending order is the same set of ranks") {
    CHECK(square.at(1, 3, 4) == membership{{0, 3}, {}});
    CHECK(square.at(3, 0, 4) == membership{{0, 3}, {}});
}

TEST_CASE("given_partitions: a rank that is not in exactly one group is named, with the step, on every rank") {
    using suites::unlike;
    auto const bad = chorus::errc::invalid_argument;
    given_partitions const missing{.steps = {{{0, 1, 2}}, {{0}, {2}}}};
    given_partitions const twice{.steps = {{{0, 1}, {2, 1}}}};
    given_partitions const beyond{.steps = {{{0, 1, 2, 3}}}};
    for (chorus::rank_id rank = 0; rank < 3; ++rank) {
        CHECK(unlike(bad, {"at step 1 rank 1 is in no group"}, [&] { missing.at(5, rank, 3); }) == "");
        CHECK(unlike(bad, {"at step 0 rank 1 is listed twice"}, [&] { twice.at(0, rank, 3); }) == "");
        CHECK(unlike(bad, {"at step 0 rank 3 is not below 3"}, [&] { beyond.at(0, rank, 3); }) == "");
    }
    CHECK(unlike(bad, {"at step 1 rank 1"}, [&] { missing.period(3); }) == "");
    CHECK(unlike(bad, {"there is no step"}, [] { given_partitions{}.period(3); }) == "");
}
