// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"
#include "chorus/data/blocks.hpp"
#include "chorus/sync/detail/groups.hpp"
#include "chorus/sync/policy.hpp"
#include "chorus/topo/detail/shuffled.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace chorus {

/// Ranks are divided into groups that average inside, and shuffled before the next step: a permutation drawn from a seed that
/// all share, cut into `groups` near-equal groups. After `cycle` partitions the first comes again; with cycle 0 none does.
///
/// groups: the first p mod groups of them have ⌈p/groups⌉ ranks, the others ⌊p/groups⌋; no more than ⌊p/2⌋ groups, so that
/// nobody is alone | period: `cycle`, 1 if there is one group | O(p) for each call
/// other ways to divide: grid_groups, pairs_hypercube, rack_delegates, given_partitions
/// E. Wu and others, "DS-Sync: addressing network bottlenecks with divide-and-shuffle synchronization" (2022)
struct divide_and_shuffle {
    static constexpr std::string_view name = "divide_and_shuffle";
    rank_id groups = 2;
    std::uint64_t seed = 0;
    step_id cycle = 16;

    membership at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        detail::expects(groups > 0, [] { return "divide_and_shuffle: there must be at least one group, not 0"; });
        auto const order = topo::detail::shuffled(size, counter_random{seed, cycle > 0 ? step % cycle : step});
        auto const place = static_cast<std::uint64_t>(std::find(order.begin(), order.end(), rank) - order.begin());
        blocks const cut = blocks::near_equal(size, groups_of(size));
        rank_id mine = 0;
        while (cut.begin(mine + 1) <= place) ++mine;
        auto const first = order.begin() + static_cast<std::ptrdiff_t>(cut.begin(mine));
        membership group{{first, first + static_cast<std::ptrdiff_t>(cut.length(mine))}, {}};
        std::sort(group.members.begin(), group.members.end());
        return group;
    }
    step_id period(rank_id size) const { return groups_of(size) == 1 ? 1 : cycle; }

    friend bool operator==(divide_and_shuffle const&, divide_and_shuffle const&) = default;

 private:
    rank_id groups_of(rank_id size) const { return size < 4 ? 1 : (std::min)(groups, size / 2); }
};
static_assert(sync_policy<divide_and_shuffle>);

}  // namespace chorus
