// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/sync/policy.hpp"
#include "chorus/topo/one_peer_hypercube.hpp"

#include <algorithm>
#include <string_view>

namespace chorus {

/// Pairs of ranks whose numbers differ in one bit, the next bit at each step; who has no such partner keeps what it has.
///
/// groups of 2, or 1 for some if p is no power of two | period ⌈log2 p⌉
/// contraction 0 if p is a power of two: the exact mean; else below 1, since every rank meets a smaller one
struct pairs_hypercube {
    static constexpr std::string_view name = "pairs_hypercube";

    membership at(step_id step, rank_id rank, rank_id size) const {
        membership pair{topo::one_peer_hypercube{}.at(step, rank, size).to, {}};
        pair.members.push_back(rank);
        std::sort(pair.members.begin(), pair.members.end());
        return pair;
    }
    step_id period(rank_id size) const { return topo::one_peer_hypercube{}.period(size); }

    friend bool operator==(pairs_hypercube const&, pairs_hypercube const&) = default;
};
static_assert(sync_policy<pairs_hypercube>);

}  // namespace chorus
