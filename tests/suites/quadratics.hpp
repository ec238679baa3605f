// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <cstddef>
#include <vector>

namespace suites {

/// Functions of which every rank has its own, a / 2 (x - b)² with a and b that differ by rank: what unlike data are.
struct quadratics {
    static double curvature(chorus::rank_id r) { return 1.0 + r % 3; }
    static double minimum(chorus::rank_id r, std::size_t i) { return static_cast<double>((r * r + 3 * i) % 11); }
    static double gradient(chorus::rank_id r, std::size_t i, double x) { return curvature(r) * (x - minimum(r, i)); }

    /// Where the mean of p ranks' functions has its minimum.
    static std::vector<double> optimum(chorus::rank_id p, std::size_t count) {
        std::vector<double> found(count);
        for (std::size_t i = 0; i < count; ++i) {
            double above = 0.0, below = 0.0;
            for (chorus::rank_id r = 0; r < p; ++r) {
                above += curvature(r) * minimum(r, i);
                below += curvature(r);
            }
            found[i] = above / below;
        }
        return found;
    }
};

}  // namespace suites
