// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

namespace chorus::detail {

/// How many elements a sparsifier keeps.
struct kept_share {
    double ratio = 0.01;      ///< of all elements, above 0 and at most 1
    std::size_t entries = 0;  ///< if not 0, this many instead, or all where there are fewer

    /// Of `count` elements: ratio · count rounded to the nearest, halves down, and at least 1 of any. Raises `invalid_argument` for a ratio out of range.
    std::size_t kept(std::size_t count) const {
        expects(ratio > 0.0 && ratio <= 1.0, [&] {
            return "the kept ratio must lie above 0 and not above 1, and is " + std::to_string(ratio);
        });
        if (entries != 0) return (std::min)(entries, count);
        double const exact = ratio * static_cast<double>(count);
        double const whole = std::floor(exact);
        std::size_t const rounded = static_cast<std::size_t>(whole) + (exact > whole + 0.5 ? 1 : 0);
        return (std::min)((std::max)(rounded, std::size_t{1}), count);
    }
};

}  // namespace chorus::detail
