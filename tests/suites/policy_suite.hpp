// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/sync/mixing.hpp"
#include "chorus/sync/policy.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

namespace suites {

/// What a policy promises beyond the laws, by size.
struct policy_promises {
    bool (*serves)(chorus::rank_id size) = [](chorus::rank_id) { return true; };
    bool (*is_exact)(chorus::rank_id size) = [](chorus::rank_id) { return false; };  ///< the exact mean after a period
    chorus::step_id looked_at = 0;  ///< steps, for policies without a period
};

/// One group as each of its members sees it. Adds the times that each rank was seen to `seen`.
template <class P>
void check_group(P const& policy, chorus::step_id step, chorus::rank_id rank, chorus::rank_id size, std::vector<int>& seen) {
    chorus::membership const group = policy.at(step, rank, size);
    auto const& members = group.members;
    CHECK(std::find(members.begin(), members.end(), rank) != members.end());
    CHECK(std::adjacent_find(members.begin(), members.end(), std::greater_equal<>{}) == members.end());
    REQUIRE(!members.empty());
    REQUIRE(members.back() < size);
    if (!group.weights.empty()) {
        REQUIRE(group.weights.size() == members.size());
        CHECK(*std::min_element(group.weights.begin(), group.weights.end()) >= 0.0);
        CHECK(std::abs(std::accumulate(group.weights.begin(), group.weights.end(), 0.0) - 1.0) < 1e-12);
    }
    for (chorus::rank_id const member : members) {
        ++seen[member];
        P const copy = policy;  // another rank's
        CHECK(copy.at(step, member, size) == group);
    }
}

template <class P>
void check_step(P const& policy, chorus::step_id step, chorus::rank_id size) {
    CAPTURE(step);
    std::vector<int> seen(size);
    std::size_t members = 0;
    auto const groups = chorus::partition_of(policy, step, size);
    for (auto const& group : groups) {
        check_group(policy, step, group.members.front(), size, seen);
        members += group.members.size();
    }
    CHECK(members == size);
    CHECK(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(size));
}

/// Partition, agreement, weights, period and contraction for 1 to 17 ranks.
template <class P>
void policy_suite(P const& policy, policy_promises const& promises = {}) {
    CHECK(P{policy} == policy);
    for (chorus::rank_id size = 1; size <= 17; ++size) {
        if (!promises.serves(size)) continue;
        CAPTURE(size);
        chorus::step_id const period = policy.period(size);
        chorus::step_id const looked_at = period > 0 ? period : promises.looked_at;
        REQUIRE(looked_at > 0);
        for (chorus::step_id step = 0; step < looked_at; ++step) {
            check_step(policy, step, size);
            if (period == 0) continue;
            for (chorus::step_id periods : {1u, 2u, 1'000'000'007u})
                for (chorus::rank_id rank = 0; rank < size; ++rank)
                    CHECK(policy.at(step + periods * period, rank, size) == policy.at(step, rank, size));
        }
        chorus::expect_mixing(policy, size, promises.looked_at);
        double const left = chorus::contraction(policy, size, promises.looked_at);
        CHECK(left < 1.0 - 1e-9);
        if (promises.is_exact(size)) CHECK(left < 1e-7);
    }
}

}  // namespace suites
