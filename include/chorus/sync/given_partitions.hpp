// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/sync/detail/groups.hpp"
#include "chorus/sync/policy.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// The user's own: the groups of each step, then from the first one again. Groups and their ranks may come in any order. All
/// ranks must be given the same.
///
/// groups as given | period: their number of steps | O(p) for each call
/// throws `invalid_argument`, on every rank alike, unless every rank is in exactly one group at every step: which one is not,
/// and at which step; already from `period`
struct given_partitions {
    static constexpr std::string_view name = "given_partitions";
    using partition = std::vector<std::vector<rank_id>>;
    std::vector<partition> steps = {};

    membership at(step_id step, rank_id rank, rank_id size) const {
        expect_steps();
        std::size_t const which = static_cast<std::size_t>(step % steps.size());
        expect_sound(which, size);
        detail::expect_rank(name, rank, size);
        for (auto const& group : steps[which]) {
            if (std::find(group.begin(), group.end(), rank) == group.end()) continue;
            membership mine{group, {}};
            std::sort(mine.members.begin(), mine.members.end());
            return mine;
        }
        return detail::alone(rank);  // not reached: the partition is sound
    }
    step_id period(rank_id size) const {
        expect_steps();
        for (std::size_t step = 0; step < steps.size(); ++step) expect_sound(step, size);
        return steps.size();
    }

    friend bool operator==(given_partitions const&, given_partitions const&) = default;

 private:
    void expect_steps() const {
        detail::expects(!steps.empty(), [] { return "given_partitions: there is no step"; });
    }
    void expect_sound(std::size_t step, rank_id size) const {
        std::vector<bool> seen(size, false);
        auto const at_step = [&](rank_id rank) {
            return "given_partitions: at step " + std::to_string(step) + " rank " + std::to_string(rank);
        };
        for (auto const& group : steps[step]) {
            for (rank_id const rank : group) {
                detail::expects(rank < size, [&] { return at_step(rank) + " is not below " + std::to_string(size); });
                detail::expects(!seen[rank], [&] { return at_step(rank) + " is listed twice"; });
                seen[rank] = true;
            }
        }
        auto const missing = std::find(seen.begin(), seen.end(), false);
        detail::expects(missing == seen.end(), [&] {
            return at_step(static_cast<rank_id>(missing - seen.begin())) + " is in no group";
        });
    }
};
static_assert(sync_policy<given_partitions>);

}  // namespace chorus
