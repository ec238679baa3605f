// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/sync/detail/groups.hpp"
#include "chorus/sync/policy.hpp"

#include <string_view>

namespace chorus {

/// Everybody averages with everybody after every step: bulk-synchronous training.
///
/// groups all p | period 1 | contraction 0: the exact mean at once
struct every_step {
    static constexpr std::string_view name = "every_step";

    membership at(step_id, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        return detail::everyone(size);
    }
    step_id period(rank_id) const { return 1; }

    friend bool operator==(every_step const&, every_step const&) = default;
};
static_assert(sync_policy<every_step>);

}  // namespace chorus
