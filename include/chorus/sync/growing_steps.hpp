// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/sync/detail/groups.hpp"
#include "chorus/sync/policy.hpp"

#include <string_view>

namespace chorus {

/// Everybody averages with everybody, ever more rarely: `rounds` averages after `first` local updates each, then as many
/// after `factor` times as many updates each, and so on up to `longest` updates, where it stays.
///
/// With first = 1, rounds = r and factor = longest = h: every step for r steps, then after every h-th ("post-local").
/// groups all p or one | not periodic: never back where it began | O(log longest) for each call
/// throws `invalid_argument` for zeros, factors below 2 and a `longest` below `first`
/// T. Lin, S. U. Stich, K. K. Patel, M. Jaggi, "Don't use large mini-batches, use local SGD" (2020)
struct growing_steps {
    static constexpr std::string_view name = "growing_steps";
    step_id first = 1;
    step_id rounds = 1;
    step_id factor = 2;
    step_id longest = 64;

    membership at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        detail::expects(first > 0 && rounds > 0 && factor > 1 && longest >= first, [] {
            return "growing_steps: first and rounds are to be above 0, factor above 1, longest not below first";
        });
        step_id length = first;
        while (length < longest && step / length >= rounds) {
            step -= rounds * length;
            length = length > longest / factor ? longest : length * factor;
        }
        return step % length == length - 1 ? detail::everyone(size) : detail::alone(rank);
    }
    step_id period(rank_id) const { return 0; }

    friend bool operator==(growing_steps const&, growing_steps const&) = default;
};
static_assert(sync_policy<growing_steps>);

}  // namespace chorus
