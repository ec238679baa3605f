// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

// How many samples each rank gets, so that all are ready together. Arithmetic alone: equal inputs give equal batches on every rank, so ranks exchange what they
// measured, not what they concluded.

namespace chorus {

/// What b samples, at least one, cost a rank, in seconds: `per_sample · b + fixed` until its backward pass begins, and that `backward_per_sample · b + backward_fixed`.
struct batch_cost {
    double per_sample = 1;
    double fixed = 0;
    double backward_per_sample = 0;
    double backward_fixed = 0;

    friend bool operator==(batch_cost const&, batch_cost const&) = default;
};

/// What the exchange of gradients takes, in seconds: all but the last bucket, which may travel while the backward pass goes on, and the last one.
struct exchange_cost {
    double overlapped = 0;
    double last = 0;
    double first_ready = 0;  ///< the part of a backward pass after which the first bucket can leave, in [0, 1]

    friend bool operator==(exchange_cost const&, exchange_cost const&) = default;
};

/// How many samples a rank may get.
struct batch_bounds {
    std::uint64_t least = 0;
    std::uint64_t most = (std::numeric_limits<std::uint64_t>::max)();

    friend bool operator==(batch_bounds const&, batch_bounds const&) = default;
};

/// When b samples are computed and exchanged: whichever is later, the end of the backward pass, or of the exchange that began with its first bucket; then the last bucket. A rank without
/// samples computes nothing and takes part in the exchange. A step takes as long as the slowest rank's.
inline double step_time(batch_cost const& cost, exchange_cost const& exchange, std::uint64_t samples) noexcept {
    if (samples == 0) return exchange.overlapped + exchange.last;
    auto const b = static_cast<double>(samples);
    double const before = cost.per_sample * b + cost.fixed, backward = cost.backward_per_sample * b + cost.backward_fixed;
    return (std::max)(before + backward, before + exchange.first_ready * backward + exchange.overlapped) + exchange.last;
}

namespace detail {

inline void expect_costs(std::span<batch_cost const> costs, exchange_cost const& exchange) {
    auto const is_time = [](double t) { return t >= 0 && std::isfinite(t); };
    for (std::size_t r = 0; r < costs.size(); ++r) {
        batch_cost const& c = costs[r];
        expects(is_time(c.per_sample) && is_time(c.fixed) && is_time(c.backward_per_sample) && is_time(c.backward_fixed) && c.per_sample + c.backward_per_sample > 0, [&] {
            return "balanced_batches: the cost of rank " + std::to_string(r) + " must grow with its samples, be finite and not negative";
        });
    }
    expects(is_time(exchange.overlapped) && is_time(exchange.last) && exchange.first_ready >= 0 && exchange.first_ready <= 1,
            [] { return "balanced_batches: the cost of the exchange must be finite and not negative, and the first bucket ready after a part from 0 to 1"; });
}

/// `bounds`, or none; never more than all samples. Throws `invalid_argument` where nothing is within them.
inline std::vector<batch_bounds> expect_bounds(std::size_t ranks, std::uint64_t total, std::span<batch_bounds const> bounds) {
    expects(ranks > 0, [] { return "balanced_batches: no ranks"; });
    expects(bounds.empty() || bounds.size() == ranks,
            [&] { return "balanced_batches: " + std::to_string(bounds.size()) + " bounds for " + std::to_string(ranks) + " ranks"; });
    std::vector<batch_bounds> all(ranks);
    std::uint64_t least_left = total, most = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
        batch_bounds const asked = bounds.empty() ? batch_bounds{} : bounds[r];
        all[r] = {asked.least, (std::min)(asked.most, total)};
        expects(asked.least <= asked.most && asked.least <= least_left, [&] {
            std::string why = "balanced_batches: rank " + std::to_string(r);
            why += " shall have at least " + std::to_string(asked.least) + " and at most " + std::to_string(asked.most) + " samples";
            return why + ", of " + std::to_string(total) + " there are " + std::to_string(least_left) + " left";
        });
        least_left -= asked.least;
        most += (std::min)(all[r].most, total - most);
    }
    expects(most == total, [&] { return "balanced_batches: all ranks together may have " + std::to_string(most) + " of " + std::to_string(total) + " samples"; });
    return all;
}

/// The largest batch within the bounds that is done in time, the least one if none is.
inline std::uint64_t most_within(batch_cost const& cost, exchange_cost const& exchange, batch_bounds const& bounds, double time) noexcept {
    std::uint64_t low = bounds.least, high = bounds.most;
    while (low < high) {
        std::uint64_t const middle = high - (high - low) / 2;
        if (step_time(cost, exchange, middle) <= time) low = middle;
        else high = middle - 1;
    }
    return low;
}

}  // namespace detail

/// The batches, whole numbers within the bounds that add up to `total`, whose slowest step is the shortest: no other whole numbers have a shorter one. Cannikin's optimum of a
/// computation that is affine in the batch and overlaps the exchange; LB-BSP's equal finishing times where there is nothing but a time per sample. A rank whose fixed cost alone is
/// more than the others take with all samples gets none, or its least.
///
/// time O(p log(total)) for each of about 60 halvings, O(p log p) for the rest | among equals the lower rank gets more | throws `invalid_argument` for costs that do not
/// grow, and bounds that cannot be kept
///
/// The largest batches that are done by a time are known rank by rank, so halving finds the greatest time within which not all samples are done. The few that are left go one by one to
/// whoever is done with it first; step times never fall with the batch, so this is exact. Nie, Maghakian, Liu, "Cannikin", Middleware 2024; Chen et al., "LB-BSP", SoCC 2020.
inline std::vector<std::uint64_t> balanced_batches(std::span<batch_cost const> costs, std::uint64_t total, exchange_cost const& exchange = {}, std::span<batch_bounds const> bounds = {}) {
    auto const within = detail::expect_bounds(costs.size(), total, bounds);
    detail::expect_costs(costs, exchange);
    if (total == 0) return std::vector<std::uint64_t>(costs.size());
    auto const are_done_by = [&](double time) {
        std::uint64_t left = total;
        for (std::size_t r = 0; r < costs.size() && left > 0; ++r) left -= (std::min)(left, detail::most_within(costs[r], exchange, within[r], time));
        return left == 0;
    };
    double low = 0, high = 0;
    for (std::size_t r = 0; r < costs.size(); ++r) high = (std::max)(high, step_time(costs[r], exchange, within[r].most));
    for (double middle = high / 2; low < middle && middle < high; middle = low + (high - low) / 2) (are_done_by(middle) ? high : low) = middle;

    std::vector<std::uint64_t> batches;
    std::uint64_t left = total;
    for (std::size_t r = 0; r < costs.size(); ++r) left -= batches.emplace_back(detail::most_within(costs[r], exchange, within[r], low));
    using turn = std::pair<double, std::size_t>;  // when one more is done, by whom
    std::priority_queue<turn, std::vector<turn>, std::greater<>> turns;
    auto const line_up = [&](std::size_t r) {
        if (batches[r] < within[r].most) turns.emplace(step_time(costs[r], exchange, batches[r] + 1), r);
    };
    for (std::size_t r = 0; r < costs.size(); ++r) line_up(r);
    for (; left > 0; --left) {
        std::size_t const next = turns.top().second;
        turns.pop();
        ++batches[next];
        line_up(next);
    }
    return batches;
}

/// Batches for ranks of which a speed is known, in samples per second: `balanced_batches` of 1 / speed per sample, which finish together but for less than a sample.
/// A rank of speed 0 gets its least. LB-BSP's rule for processors.
inline std::vector<std::uint64_t> proportional_batches(std::span<double const> speeds, std::uint64_t total, std::span<batch_bounds const> bounds = {}) {
    auto within = detail::expect_bounds(speeds.size(), total, bounds);
    std::vector<batch_cost> costs(speeds.size());
    for (std::size_t r = 0; r < speeds.size(); ++r) {
        bool const is_speed = speeds[r] >= 0 && std::isfinite(speeds[r]);
        detail::expects(is_speed, [&] { return "proportional_batches: the speed of rank " + std::to_string(r) + " is " + std::to_string(speeds[r]); });
        if (speeds[r] > 0) costs[r].per_sample = 1 / speeds[r];
        else within[r].most = within[r].least;
    }
    return balanced_batches(costs, total, {}, within);
}

}  // namespace chorus
