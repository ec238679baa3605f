// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/sync/detail/groups.hpp"
#include "chorus/sync/policy.hpp"
#include "chorus/topo/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// One rank of every rack, another at each step, averages with those of the other racks, while the rest of each rack averages
/// inside: the link between racks carries what a ring of one rank per rack sends, beside and not after the traffic inside.
///
/// `places` says who sits in which rack; without it racks are runs of `width` ranks, the last one perhaps shorter. With m ranks
/// in the largest rack, the delegate of a rack of r ranks at step t is number t mod m mod r of it. One rack alone: everybody.
/// groups: as many as there are racks, and m - 1 | period m | racks of 2 ranks each never mix; see expect_mixing
/// throws `invalid_argument`, on every rank alike, for a layout of another size and for width 0
struct rack_delegates {
    static constexpr std::string_view name = "rack_delegates";
    rank_id width = 4;
    std::optional<topo::layout> places = std::nullopt;

    membership at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        topo::layout const racks = racks_of(size);
        if (racks.hosts() == 1) return detail::everyone(size);
        step_id const turn = step % largest(racks);
        auto const delegate_of = [&](rank_id rack) {
            auto const ranks = racks.ranks_of(rack);
            return ranks[static_cast<std::size_t>(turn % ranks.size())];
        };
        rank_id const mine = racks.host_of(rank);
        membership group{};
        if (delegate_of(mine) == rank) {
            for (rank_id rack = 0; rack < racks.hosts(); ++rack) group.members.push_back(delegate_of(rack));
            std::sort(group.members.begin(), group.members.end());
        } else {
            for (rank_id const other : racks.ranks_of(mine))
                if (other != delegate_of(mine)) group.members.push_back(other);
        }
        return group;
    }
    step_id period(rank_id size) const {
        topo::layout const racks = racks_of(size);
        return racks.hosts() == 1 ? 1 : largest(racks);
    }

    friend bool operator==(rack_delegates const&, rack_delegates const&) = default;

 private:
    topo::layout racks_of(rank_id size) const {
        if (!places) return topo::layout::blocks(size, width);
        detail::expects(places->size() == size, [&] {
            return "rack_delegates: a layout of " + std::to_string(places->size()) + " ranks for " + std::to_string(size);
        });
        return *places;
    }
    static rank_id largest(topo::layout const& racks) {
        auto const sizes = racks.sizes();
        return *std::max_element(sizes.begin(), sizes.end());
    }
};
static_assert(sync_policy<rack_delegates>);

}  // namespace chorus
