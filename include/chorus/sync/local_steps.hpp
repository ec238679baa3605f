// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/sync/detail/cadence.hpp"
#include "chorus/sync/detail/groups.hpp"
#include "chorus/sync/policy.hpp"

#include <string_view>

namespace chorus {

/// Everybody averages with everybody after every `period`-th local update, at the steps period - 1, 2 period - 1, …; with
/// an offset that much later, and so with offset 1 at the steps 0, period, 2 period, …
///
/// groups all p or one | period: `period` | contraction 0: the exact mean once in a period
/// throws `invalid_argument` for period 0 and for an offset that is not below the period
/// H. Yu, S. Yang, S. Zhu, "Parallel restarted SGD with faster convergence and less communication" (2019)
struct local_steps {
    static constexpr std::string_view name = "local_steps";
    detail::fixed_period period = 1;
    step_id offset = 0;

    membership at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        detail::cadence const when{period, offset};
        when.expect_sound(name);
        return when.round_at(step) ? detail::everyone(size) : detail::alone(rank);
    }

    friend bool operator==(local_steps const&, local_steps const&) = default;
};
static_assert(sync_policy<local_steps>);

}  // namespace chorus
