// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace bench {

/// The least of the sorted values that at least `percent` % of them do not exceed; the least of all for 0 %. There must
/// be a value.
inline double percentile(std::vector<double> const& sorted, double percent) {
    auto const count = static_cast<double>(sorted.size());
    double const rank = std::ceil(percent / 100 * count - 1e-9);
    return sorted[static_cast<std::size_t>(std::clamp(rank, 1.0, count)) - 1];
}

/// Where the median of what is being sampled lies with a probability of at least 95 %, whatever the distribution, if the
/// samples are independent. Fewer than six samples do not say: the interval is empty.
struct interval {
    double low = 0;
    double high = 0;

    bool is_empty() const noexcept { return low == 0 && high == 0; }

    /// Half the width in proportion to `middle`; infinite if it is empty.
    double relative_to(double middle) const noexcept {
        if (is_empty() || !(middle > 0)) return std::numeric_limits<double>::infinity();
        return (high - low) / 2 / middle;
    }
};

/// From the ranks of the sorted values: those at n/2 -+ 0.98 √n, the normal approximation of the binomial law, widened to
/// whole ranks. For 6 to 12 values, where that is not good enough, the two ends.
inline interval interval_of_median(std::vector<double> const& sorted) {
    std::size_t const count = sorted.size();
    if (count < 6) return {};
    if (count <= 12) return {sorted.front(), sorted.back()};
    auto const n = static_cast<double>(count);
    auto const low = static_cast<std::size_t>(std::floor(n / 2 - 0.98 * std::sqrt(n))) - 1;
    return {sorted[low], sorted[count - 1 - low]};
}

struct summary {
    double median = 0;   ///< of an even number of values: the mean of the two in the middle
    double minimum = 0;
    double maximum = 0;
    double mean = 0;
    double deviation = 0;  ///< standard deviation of the values, dividing by their number
    double p90 = 0;      ///< as `percentile`
    double p99 = 0;
    interval middle;     ///< of the median
};

/// Throws std::invalid_argument if there is nothing to sum up.
inline summary summarise(std::vector<double> values) {
    if (values.empty()) throw std::invalid_argument{"no measurement to sum up"};
    std::sort(values.begin(), values.end());
    std::size_t const count = values.size();
    double const mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(count);
    double squares = 0;
    for (double value : values) squares += (value - mean) * (value - mean);
    return {.median = std::midpoint(values[(count - 1) / 2], values[count / 2]),
            .minimum = values.front(),
            .maximum = values.back(),
            .mean = mean,
            .deviation = std::sqrt(squares / static_cast<double>(count)),
            .p90 = percentile(values, 90),
            .p99 = percentile(values, 99),
            .middle = interval_of_median(values)};
}

}  // namespace bench
