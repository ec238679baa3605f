// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/sync/detail/cadence.hpp"
#include "chorus/sync/detail/groups.hpp"
#include "chorus/sync/every_step.hpp"
#include "chorus/sync/policy.hpp"

#include <string_view>
#include <utility>

namespace chorus {

/// Another policy after every `every`-th local update only: spaced{4, divide_and_shuffle{}} averages in groups at the steps
/// 3, 7, 11, …, the groups of which are those of its steps 0, 1, 2, …; `offset` as in local_steps.
///
/// groups those of the other, or one rank | period `every` times the other's, none if that has none | contraction per period
/// that of the other | throws `invalid_argument` as local_steps and the other do
template <sync_policy Policy>
struct spaced {
    static constexpr std::string_view name = "spaced";
    step_id every = 1;
    Policy inner = {};
    step_id offset = 0;

    membership at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        detail::cadence const when{every, offset};
        when.expect_sound(name);
        auto const round = when.round_at(step);
        return round ? inner.at(*round, rank, size) : detail::alone(rank);
    }
    step_id period(rank_id size) const { return every * inner.period(size); }

    /// Where ranks count their own steps: the same with rounds for steps of the other.
    auto in_rounds() const
        requires own_step_policy<Policy>
    {
        return spaced<decltype(inner.in_rounds())>{every, inner.in_rounds(), offset};
    }

    friend bool operator==(spaced const&, spaced const&) = default;
};

template <class Policy> spaced(step_id, Policy) -> spaced<Policy>;
template <class Policy> spaced(step_id, Policy, step_id) -> spaced<Policy>;

static_assert(sync_policy<spaced<every_step>>);

}  // namespace chorus
