// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/sync/detail/groups.hpp"
#include "chorus/sync/policy.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// Everybody averages with everybody, each rank after as many local updates of its own as it is given, so that fast ranks do
/// more of them and all come to the average together.
///
/// `step` is the asking rank's own count: rank i averages at its steps steps[i] - 1, 2 steps[i] - 1, …, and its n-th average is
/// everybody's n-th. The laws hold by round: see `in_rounds`. `shares` are the parts of the mean in whole numbers (samples
/// seen, batch sizes), one per rank; empty: equal.
/// groups all p or one | period: least common multiple of the steps | contraction 0 in each round
/// throws `invalid_argument` unless there is a number of steps above 0 for each rank, and shares for all or none
/// H. Yu, S. Yang, S. Zhu, "Parallel restarted SGD with faster convergence and less communication" (2019)
struct uneven_steps {
    static constexpr std::string_view name = "uneven_steps";
    std::vector<std::uint32_t> steps = {};
    std::vector<std::uint32_t> shares = {};

    membership at(step_id step, rank_id rank, rank_id size) const {
        expect_sound(size);
        detail::expect_rank(name, rank, size);
        if (step % steps[rank] != steps[rank] - 1) return detail::alone(rank);
        membership all = detail::everyone(size);
        double const total = std::accumulate(shares.begin(), shares.end(), 0.0);
        for (std::uint32_t const share : shares) all.weights.push_back(share / total);
        return all;
    }

    /// 0 where the least common multiple does not fit in 63 bits.
    step_id period(rank_id size) const {
        expect_sound(size);
        step_id common = 1;
        for (step_id const each : steps) {
            step_id const factor = each / std::gcd(common, each);
            if (common > step_id{(std::numeric_limits<std::int64_t>::max)()} / factor) return 0;
            common *= factor;
        }
        return common;
    }

    /// The same with rounds for steps.
    uneven_steps in_rounds() const { return {std::vector<std::uint32_t>(steps.size(), 1), shares}; }

    friend bool operator==(uneven_steps const&, uneven_steps const&) = default;

 private:
    void expect_sound(rank_id size) const {
        detail::expects(steps.size() == size && (shares.empty() || shares.size() == size), [&] {
            return "uneven_steps: steps of " + std::to_string(steps.size()) + " ranks and shares of " +
                   std::to_string(shares.size()) + " (all or none) for " + std::to_string(size);
        });
        for (std::size_t rank = 0; rank < steps.size(); ++rank)
            detail::expects(steps[rank] > 0, [&] { return "uneven_steps: rank " + std::to_string(rank) + " has 0 steps"; });
        detail::expects(shares.empty() || std::accumulate(shares.begin(), shares.end(), 0.0) > 0.0,
                        [] { return "uneven_steps: all shares are 0"; });
    }
};
static_assert(own_step_policy<uneven_steps>);

/// How many steps each rank makes in a time that all work for: ⌊rate · seconds⌋, at least 1. All ranks must give the same
/// rates, in steps per second. Throws `invalid_argument` for such as are no number from 0 to 2^32 - 1 steps in that time.
inline std::vector<std::uint32_t> steps_in_time(std::span<double const> rates, double seconds) {
    std::vector<std::uint32_t> steps;
    for (double const rate : rates) {
        double const made = rate * seconds;
        detail::expects(made >= 0.0 && made < 4294967296.0, [&] {
            return "steps_in_time: rank " + std::to_string(steps.size()) + " makes " + std::to_string(rate) +
                   " steps per second for " + std::to_string(seconds) + " s";
        });
        steps.push_back(made < 1.0 ? 1 : static_cast<std::uint32_t>(made));
    }
    return steps;
}

}  // namespace chorus
