// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/collective/group.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace chorus::detail {

/// Some members of a group, given by their ranks in it, as a group of its own that nobody observes: measuring does not show up in what is measured.
template <transport Transport>
group<Transport> unobserved(group<Transport> const& members, std::span<rank_id const> ranks) {
    constexpr std::uint64_t apart_from_users_labels = 0x8EBC6AF09C88C6E3u;
    std::vector<rank_id> world_ranks;
    for (rank_id r : ranks) world_ranks.push_back(members.world_rank(r));
    group<Transport> const world{members.net(), apart_from_users_labels};
    return world.subgroup(world_ranks).within(members.deadline());
}

template <transport Transport>
group<Transport> unobserved(group<Transport> const& members) {
    std::vector<rank_id> all(members.size());
    for (rank_id r = 0; r < members.size(); ++r) all[r] = r;
    return unobserved(members, all);
}

}  // namespace chorus::detail
