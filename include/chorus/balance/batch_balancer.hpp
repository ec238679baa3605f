// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/balance/batch_solver.hpp"
#include "chorus/base/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// How soon batches follow measured speeds, and within which bounds.
struct balancer_options {
    double smoothing = 0.3;               ///< how much the newest measurement counts, in (0, 1]
    double hysteresis = 0.05;             ///< batches change where the slowest rank is expected to gain more than this part of its time, in [0, 1)
    std::vector<batch_bounds> bounds{};  ///< one per rank; none: at least one sample each, so that every rank goes on being measured
};

/// Deals a global batch out to ranks whose speeds are measured while they train, and change: LB-BSP's prediction of speeds by an exponential average, the exact batches for them,
/// and a threshold below which all stays as it is, so that noise moves nothing.
///
///     chorus::batch_balancer balancer{world.size(), 4096};
///     for (…) { /* gradient of balancer.batches()[me] samples */ chorus::all_gather(world, std::span{&seconds, 1}, all_seconds); balancer.update(all_seconds); }
///
/// local and deterministic: ranks that are told the same times hold the same batches | batches add up to the global one and keep their bounds at all times | `update` allocates |
/// throws `invalid_argument` for options out of range, bounds that cannot be kept, and times that are none
class batch_balancer {
 public:
    batch_balancer(std::size_t ranks, std::uint64_t total, balancer_options options = {}) : options_{std::move(options)}, total_{total}, per_sample_(ranks) {
        detail::expects(options_.smoothing > 0 && options_.smoothing <= 1 && options_.hysteresis >= 0 && options_.hysteresis < 1, [&] {
            std::string why = "batch_balancer: a smoothing of " + std::to_string(options_.smoothing);
            return why + " and a hysteresis of " + std::to_string(options_.hysteresis) + ", expected (0, 1] and [0, 1)";
        });
        if (options_.bounds.empty()) options_.bounds.assign(ranks, {.least = 1});
        batches_ = proportional_batches(std::vector<double>(ranks, 1.0), total_, options_.bounds);
    }

    std::span<std::uint64_t const> batches() const noexcept { return batches_; }

    /// Smoothed, in samples per second; 0: not measured yet.
    double speed(std::size_t rank) const { return per_sample_.at(rank) > 0 ? 1 / per_sample_[rank] : 0; }

    /// What each rank's last batch took it to compute, in seconds, waiting left out; that of a rank without samples is not looked at. True: the batches have changed.
    bool update(std::span<double const> seconds) {
        detail::expects(seconds.size() == batches_.size(), [&] {
            std::string why = "batch_balancer: " + std::to_string(seconds.size());
            return why + " times for " + std::to_string(batches_.size()) + " ranks";
        });
        for (std::size_t r = 0; r < seconds.size(); ++r)
            detail::expects(batches_[r] == 0 || (seconds[r] > 0 && std::isfinite(seconds[r])),
                            [&] { return "batch_balancer: the time of rank " + std::to_string(r) + " is " + std::to_string(seconds[r]); });
        for (std::size_t r = 0; r < seconds.size(); ++r) measure(r, seconds[r]);
        return deal();
    }

 private:
    void measure(std::size_t r, double seconds) noexcept {
        if (batches_[r] == 0) return;
        double const now = seconds / static_cast<double>(batches_[r]);
        per_sample_[r] = per_sample_[r] > 0 ? (1 - options_.smoothing) * per_sample_[r] + options_.smoothing * now : now;
    }

    bool deal() {
        std::vector<double> speeds;
        for (std::size_t r = 0; r < batches_.size(); ++r) speeds.push_back(speed(r));
        if (std::all_of(speeds.begin(), speeds.end(), [](double v) { return v == 0; })) return false;
        auto better = proportional_batches(speeds, total_, options_.bounds);
        if (!(slowest(better) < (1 - options_.hysteresis) * slowest(batches_))) return false;
        batches_ = std::move(better);
        return true;
    }

    double slowest(std::vector<std::uint64_t> const& batches) const noexcept {
        double time = 0;
        for (std::size_t r = 0; r < batches.size(); ++r) time = (std::max)(time, per_sample_[r] * static_cast<double>(batches[r]));
        return time;
    }

    balancer_options options_;
    std::uint64_t total_;
    std::vector<double> per_sample_;  // seconds, smoothed; 0: not measured yet
    std::vector<std::uint64_t> batches_;
};

}  // namespace chorus
