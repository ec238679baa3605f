// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <concepts>
#include <string_view>
#include <vector>

namespace chorus {

/// The ranks that average together at one step, as one of them sees it.
struct membership {
    std::vector<rank_id> members;  ///< ranks of the group, ascending, the asking rank among them; only itself: it keeps what it has
    std::vector<double> weights;   ///< one per member, sum 1; empty: equal shares

    friend bool operator==(membership const&, membership const&) = default;
};

/// Who averages with whom: a pure function of (step, rank, size), so that all ranks know all groups without a message.
///
/// partition  at every step each rank is in exactly one group; members of a group give the same members and weights
/// step       a local update; groups average after it: steps count from 0
/// period     at(step + period(size), …) equals at(step, …); 0: not periodic. Whoever keeps a plan per group keeps those of one period
/// errors     `invalid_argument` from `at` and `period`, on all ranks alike, for a size that the policy cannot serve
///
/// Whether the groups of a period mix all ranks is asked of mixing.hpp.
template <class P> concept sync_policy = std::copyable<P> && requires(P const& p, step_id step, rank_id rank, rank_id size) {
    { P::name } -> std::convertible_to<std::string_view>;
    { p.at(step, rank, size) } -> std::same_as<membership>;
    { p.period(size) } -> std::same_as<step_id>;
};

/// A policy whose `step` is the asking rank's own count of local updates, of which ranks make different numbers between two
/// averages. The laws hold for `in_rounds()`, in which all ranks count alike: its steps are rounds.
template <class P> concept own_step_policy = sync_policy<P> && requires(P const& p) {
    { p.in_rounds() } -> sync_policy;
};

}  // namespace chorus
