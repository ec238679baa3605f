// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/time_limit.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/transport/transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <vector>

namespace chorus {

/// The members of a group that are still alive, as a new group in the same order, after an operation has failed.
///
/// Collective among the living ranks of the *transport*, members of the group or not: a failure ends what was under way on all of them, and each calls
/// `shrink` once per failure, on whichever group it likes. Plans that are under way fail first; plans made before stay unusable, of this group and of
/// others that hold a lost rank. What was sent and not received is gone. Ranks keep their numbers on the transport.
/// Throws timed_out if the others do not come to an end within twice `limit`, peer_lost if this rank came too late and was left behind,
/// invalid_argument if this rank is no member.
template <recovering_transport Transport>
group<Transport> shrink(group<Transport> const& members, time_limit limit = std::chrono::seconds{10}) {
    Transport& net = members.net();
    if constexpr (aborting_transport<Transport>) net.abort(errc::aborted, net.rank(), "a rank goes on with the survivors");
    detail::under_way_list& under_way = *members.state()->under_way;
    while (!under_way.empty()) under_way.help_all(true);
    std::vector<rank_id> const alive = net.recover(limit);
    std::vector<rank_id> ranks;
    for (rank_id r = 0; r < members.size(); ++r)
        if (std::binary_search(alive.begin(), alive.end(), members.world_rank(r))) ranks.push_back(r);
    constexpr std::uint64_t apart_from_users_labels = 0xC2B2AE3D27D4EB4Fu;
    return members.subgroup(ranks, apart_from_users_labels + net.recoveries());
}

}  // namespace chorus
