// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/all_reduce.hpp"
#include "chorus/gossip/detail/arrivals.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace chorus::gossip::detail {

/// The largest Euclidean distance of a rank's values from the mean over all, infinite where there are NaNs. Blocking; the same on all ranks.
template <transport Transport, class Element>
double disagreement_of(group<Transport> const& members, std::span<Element const> values) {
    std::vector<double> mean(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) mean[i] = wide(values[i]);
    all_reduce(members, mean, sum{});
    double square = 0.0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        double const away = wide(values[i]) - mean[i] / static_cast<double>(members.size());
        square += away * away;
    }
    std::vector<double> largest{std::isnan(square) ? std::numeric_limits<double>::infinity() : square};
    all_reduce(members, largest, maximum{});
    return std::sqrt(largest[0]);
}

}  // namespace chorus::gossip::detail
