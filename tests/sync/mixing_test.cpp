// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/mixing.hpp"

#include "chorus/sync/divide_and_shuffle.hpp"
#include "chorus/sync/given_partitions.hpp"
#include "chorus/sync/growing_steps.hpp"
#include "chorus/sync/uneven_steps.hpp"
#include "suites/expected_error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using chorus::given_partitions;
using chorus::rank_id;
using chorus::step_id;

namespace {

/// How far ranks are apart after a policy has averaged values for some steps, of what they were: the root of the sums of squares.
template <class P>
double spread_left(P const& policy, rank_id size, step_id steps, rank_id marked) {
    std::vector<double> x(size);
    x[marked] = 1.0;
    auto const spread = [&] {
        double mean = 0.0, sum = 0.0;
        for (double const value : x) mean += value / size;
        for (double const value : x) sum += (value - mean) * (value - mean);
        return std::sqrt(sum);
    };
    double const before = spread();
    for (step_id step = 0; step < steps; ++step) {
        for (auto const& group : chorus::partition_of(policy, step, size)) {
            double mean = 0.0;
            for (rank_id const member : group.members) mean += x[member] / static_cast<double>(group.members.size());
            for (rank_id const member : group.members) x[member] = mean;
        }
    }
    return spread() / before;
}

}  // namespace

TEST_CASE("SYN-4: groups that never mix are refused, with the two sets of ranks; one more partition is enough") {
    given_partitions halves{.steps = {{{0, 1}, {2, 3}, {4, 5}}, {{1, 0, 5, 4}, {2, 3}}}};
    auto const apart = chorus::find_sets_apart(halves, 6);
    REQUIRE(apart);
    CHECK(*apart == chorus::sets_apart{{0, 1, 4, 5}, {2, 3}});
    CHECK(suites::unlike(chorus::errc::invalid_argument,
                         {"given_partitions of 6 ranks", "2", "ranks 0, 1, 4, 5 never average with ranks 2, 3"},
                         [&] { chorus::expect_mixing(halves, 6); }) == "");
    CHECK(chorus::contraction(halves, 6) == doctest::Approx(1.0));
    halves.steps.push_back({{0}, {1}, {2, 4}, {3}, {5}});
    chorus::expect_mixing(halves, 6);
    CHECK(chorus::contraction(halves, 6) < 1.0 - 1e-6);
}

TEST_CASE("contraction bounds what averaging leaves of any value, and its logarithm counts the periods") {
    for (rank_id size : {5u, 8u, 13u}) {
        chorus::divide_and_shuffle const policy{.groups = 2, .seed = 3, .cycle = 4};
        double const factor = chorus::contraction(policy, size);
        for (rank_id marked = 0; marked < size; ++marked) {
            CHECK(spread_left(policy, size, 4, marked) <= factor * (1 + 1e-9) + 1e-12);
            CHECK(spread_left(policy, size, 12, marked) <= factor * factor * factor * (1 + 1e-9) + 1e-12);
        }
        auto const enough = chorus::mixing_speed_of(policy, size).rounds_to(1e-3);
        REQUIRE(enough);
        CHECK(spread_left(policy, size, *enough, 0) <= 1e-3);
    }
}

TEST_CASE("contraction of unequal shares is 0 where all ranks come to the same, and a policy without a period is looked at in part") {
    CHECK(chorus::contraction(chorus::uneven_steps{.steps = {1, 2, 3}, .shares = {1, 1, 8}}, 3) < 1e-7);
    chorus::growing_steps const late{.first = 8, .longest = 8};
    CHECK(chorus::find_sets_apart(late, 4, 7));
    chorus::expect_mixing(late, 4, 8);
    chorus::expect_mixing(late, 4);
    CHECK(chorus::mixing_speed_of(late, 4, 7).contraction == doctest::Approx(1.0));
}
