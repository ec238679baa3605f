// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/graph.hpp"
#include "chorus/topo/mixing_matrix.hpp"
#include "chorus/topo/weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace chorus::topo {

// How fast averaging brings all ranks to their mean, by arithmetic. `matrix_at` is what gives W of each step:
// [&](step_id step) { return graph_matrix(g, metropolis{}, step, size); }, or one with `partition_matrix`.

/// Two ranks, of which nothing that the first has ever comes to the second.
struct unreachable_rank {
    rank_id from = nobody;
    rank_id to = nobody;

    friend constexpr bool operator==(unreachable_rank, unreachable_rank) = default;
};

namespace detail {

/// Whether values travel from `start` to each rank, or, backwards, from each rank to `start`.
inline std::vector<bool> reached_from(std::vector<bool> const& hears, rank_id size, rank_id start, bool backwards) {
    std::vector<bool> reached(size);
    std::vector<rank_id> open{start};
    reached[start] = true;
    while (!open.empty()) {
        rank_id const at = open.back();
        open.pop_back();
        for (rank_id next = 0; next < size; ++next) {
            if (reached[next] || !hears[backwards ? std::size_t{at} * size + next : std::size_t{next} * size + at]) continue;
            reached[next] = true;
            open.push_back(next);
        }
    }
    return reached;
}

}  // namespace detail

/// Two ranks that cannot reach each other if the steps 0 … steps - 1 are done again and again; nothing if all ranks can.
template <class MatrixAt>
std::optional<unreachable_rank> find_unreachable(MatrixAt const& matrix_at, step_id steps, rank_id size) {
    std::vector<bool> hears(std::size_t{size} * size);
    for (step_id step = 0; step < steps; ++step) {
        mixing_matrix const w = matrix_at(step);
        for (rank_id i = 0; i < size; ++i)
            for (rank_id j = 0; j < size; ++j)
                if (w.row(i)[j] != 0.0) hears[std::size_t{i} * size + j] = true;
    }
    auto const forth = detail::reached_from(hears, size, 0, false);
    auto const back = detail::reached_from(hears, size, 0, true);
    for (rank_id rank = 0; rank < size; ++rank) {
        if (!forth[rank]) return unreachable_rank{0, rank};
        if (!back[rank]) return unreachable_rank{rank, 0};
    }
    return std::nullopt;
}

/// Throws `invalid_argument` unless every rank reaches every other within repetitions of these steps.
template <class MatrixAt>
void expect_connected(MatrixAt const& matrix_at, step_id steps, rank_id size) {
    auto const found = find_unreachable(matrix_at, steps, size);
    detail::expects(!found, [&] {
        return "over " + std::to_string(steps) + " steps of " + std::to_string(size) + " ranks nothing that rank " +
               std::to_string(found->from) + " has comes to rank " + std::to_string(found->to) +
               ": values would never agree";
    });
}

/// W of the steps first … first + steps - 1 together.
template <class MatrixAt>
mixing_matrix mixing_product(MatrixAt const& matrix_at, rank_id size, step_id steps, step_id first = 0) {
    mixing_matrix result{size};
    for (step_id step = first; step < first + steps; ++step) result = matrix_at(step) * result;
    return result;
}

/// ‖W - J‖₂, J being the exact mean: if W is doubly stochastic, the distance from the mean falls at least by this factor,
/// and for some values by no more. 0: the exact mean; 1: some values never come nearer.
///
/// The largest singular value, to about 1e-8 and mostly to rounding: (W - J)ᵀ(W - J) is squared until its columns are
/// vectors of the largest one | O(size³) for each of at most 40 squarings
inline double contraction(mixing_matrix const& w) {
    rank_id const size = w.size();
    mixing_matrix away = w;
    for (rank_id i = 0; i < size; ++i)
        for (double& value : away.row(i)) value -= 1.0 / size;
    mixing_matrix power = away.transposed() * away;
    double found = 0.0;
    for (int squarings = 0; squarings < 40; ++squarings) {
        rank_id best = 0;
        double largest = 0.0;
        for (rank_id i = 0; i < size; ++i) {
            if (power.row(i)[i] > power.row(best)[best]) best = i;
            for (double const value : power.row(i)) largest = (std::max)(largest, std::abs(value));
        }
        if (largest == 0.0) return 0.0;
        for (rank_id i = 0; i < size; ++i)
            for (double& value : power.row(i)) value /= largest;
        auto const vector = power.row(best);
        double before = 0.0, after = 0.0;
        for (double const value : vector) before += value * value;
        for (double const value : away.applied(vector)) after += value * value;
        double const next = std::sqrt(after / before);
        bool const stays = squarings > 0 && std::abs(next - found) <= 1e-15 * next;
        found = next;
        if (stays) break;
        power = power * power;
    }
    return found;
}

/// 1 - ‖W - J‖₂; where W is symmetric, 1 - the second largest absolute eigenvalue.
inline double spectral_gap(mixing_matrix const& w) { return 1.0 - contraction(w); }

/// What a number of steps does to the distance from the mean.
struct mixing_speed {
    step_id steps = 1;         ///< 1 or a whole period
    double contraction = 1.0;  ///< of all these steps together

    /// Of one step, on average.
    double per_step() const { return std::pow(contraction, 1.0 / static_cast<double>(steps)); }

    /// After how many steps, done again and again, the distance from the mean is at most `epsilon` of the first one,
    /// whatever the values are; whole periods. For one symmetric W no fewer will do. Nothing: never.
    std::optional<step_id> rounds_to(double epsilon) const {
        if (epsilon >= 1.0) return 0;
        if (!(contraction < 1.0 - 1e-12) || !(epsilon > 0.0)) return std::nullopt;
        if (contraction <= epsilon) return steps;
        double const periods = std::log(epsilon) / std::log(contraction);
        return steps * static_cast<step_id>(std::ceil(periods * (1.0 - 1e-12)));
    }

    friend constexpr bool operator==(mixing_speed const&, mixing_speed const&) = default;
};

/// Speed over these steps. Throws `invalid_argument` unless every W is doubly stochastic and all ranks reach each other.
template <class MatrixAt>
mixing_speed mixing_speed_of(MatrixAt const& matrix_at, step_id steps, rank_id size) {
    detail::expects(steps > 0, [] { return "mixing: at least one step is needed; give a number for what has no period"; });
    for (step_id step = 0; step < steps; ++step) expect_stochastic(matrix_at(step), stochastic::both);
    expect_connected(matrix_at, steps, size);
    return {steps, contraction(mixing_product(matrix_at, size, steps))};
}

/// Speed of a graph over its period, or over `steps` where it has none or another number is wanted.
template <graph G, weighting Weights = metropolis>
mixing_speed mixing_speed_of_graph(G const& g, rank_id size, Weights const& weights = {}, step_id steps = 0) {
    return mixing_speed_of([&](step_id step) { return graph_matrix(g, weights, step, size); },
                           steps > 0 ? steps : g.period(size), size);
}

}  // namespace chorus::topo
