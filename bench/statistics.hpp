// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace bench {

struct summary {
    double median = 0;   ///< of an even number of values: the mean of the two in the middle
    double minimum = 0;
    double maximum = 0;
    double mean = 0;
    double p99 = 0;      ///< the least value that at least 99 % of the values do not exceed
};

/// Throws std::invalid_argument if there is nothing to sum up.
inline summary summarise(std::vector<double> values) {
    if (values.empty()) throw std::invalid_argument{"no measurement to sum up"};
    std::sort(values.begin(), values.end());
    std::size_t const count = values.size();
    std::size_t const rank99 = (count * 99 + 99) / 100;
    return {.median = std::midpoint(values[(count - 1) / 2], values[count / 2]),
            .minimum = values.front(),
            .maximum = values.back(),
            .mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(count),
            .p99 = values[rank99 - 1]};
}

}  // namespace bench
