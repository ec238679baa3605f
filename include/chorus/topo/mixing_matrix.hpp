// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/graph.hpp"
#include "chorus/topo/weights.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace chorus::topo {

/// What averaging does to the values x of all ranks, dense: x becomes W x, row i being what rank i makes of them.
/// Local | 8 size² bytes | a product takes O(nonzeros of the left factor * size) | values: copied, compared
class mixing_matrix {
 public:
    /// The identity: every rank keeps what it has.
    explicit mixing_matrix(rank_id size) : size_{size}, values_(std::size_t{size} * size) {
        for (rank_id rank = 0; rank < size; ++rank) row(rank)[rank] = 1.0;
    }

    rank_id size() const noexcept { return size_; }
    std::span<double> row(rank_id rank) noexcept { return std::span{values_}.subspan(std::size_t{rank} * size_, size_); }
    std::span<double const> row(rank_id rank) const noexcept {
        return std::span{values_}.subspan(std::size_t{rank} * size_, size_);
    }

    /// W x.
    std::vector<double> applied(std::span<double const> x) const {
        std::vector<double> result(size_);
        for (rank_id i = 0; i < size_; ++i)
            for (rank_id j = 0; j < size_; ++j) result[i] += row(i)[j] * x[j];
        return result;
    }

    /// What `earlier` and then `later` do together. Sizes must be equal.
    friend mixing_matrix operator*(mixing_matrix const& later, mixing_matrix const& earlier) {
        rank_id const size = later.size_;
        mixing_matrix result{size, nothing{}};
        for (rank_id i = 0; i < size; ++i)
            for (rank_id k = 0; k < size; ++k)
                if (double const factor = later.row(i)[k]; factor != 0.0)
                    for (rank_id j = 0; j < size; ++j) result.row(i)[j] += factor * earlier.row(k)[j];
        return result;
    }

    friend bool operator==(mixing_matrix const&, mixing_matrix const&) = default;

    mixing_matrix transposed() const {
        mixing_matrix result{size_, nothing{}};
        for (rank_id i = 0; i < size_; ++i)
            for (rank_id j = 0; j < size_; ++j) result.row(j)[i] = row(i)[j];
        return result;
    }

 private:
    struct nothing {};
    mixing_matrix(rank_id size, nothing) : size_{size}, values_(std::size_t{size} * size) {}

    rank_id size_;
    std::vector<double> values_;
};

/// W of a graph at one step.
template <graph G, weighting Weights>
mixing_matrix graph_matrix(G const& g, Weights const& weights, step_id step, rank_id size) {
    mixing_matrix result{size};
    for (rank_id rank = 0; rank < size; ++rank) {
        mixing_row const taken = weights.row(g, step, rank, size);
        result.row(rank)[rank] = taken.own;
        for (std::size_t k = 0; k < taken.from.size(); ++k) result.row(rank)[taken.from[k]] += taken.weights[k];
    }
    return result;
}

/// W of a step at which ranks average in groups: member_of(step, rank) gives something with `members` (ranks, the asking
/// one among them) and `weights` (one for each; empty: equal shares), as a policy of sync/ does. Throws
/// `invalid_argument` for members that do not exist and for numbers of weights that do not fit.
template <class Partition>
mixing_matrix partition_matrix(Partition const& member_of, step_id step, rank_id size) {
    mixing_matrix result{size};
    for (rank_id rank = 0; rank < size; ++rank) {
        auto const group = member_of(step, rank);
        std::size_t const count = group.members.size();
        detail::expects(group.weights.empty() || group.weights.size() == count, [&] {
            return "rank " + std::to_string(rank) + " at step " + std::to_string(step) + ": " + std::to_string(count) +
                   " members and " + std::to_string(group.weights.size()) + " weights";
        });
        result.row(rank)[rank] = 0.0;
        for (std::size_t k = 0; k < count; ++k) {
            rank_id const member = group.members[k];
            detail::expects(member < size, [&] {
                return "rank " + std::to_string(rank) + " at step " + std::to_string(step) + " averages with rank " +
                       std::to_string(member) + " of " + std::to_string(size);
            });
            result.row(rank)[member] += group.weights.empty() ? 1.0 / static_cast<double>(count) : group.weights[k];
        }
    }
    return result;
}

/// What must sum to 1.
enum class stochastic : std::uint8_t {
    rows,     ///< equal values stay equal
    columns,  ///< the sum over all ranks stays
    both      ///< the mean stays, and is what values go to
};

namespace detail {

inline std::string sum_flaw(mixing_matrix const& w, char const* what) {
    for (rank_id i = 0; i < w.size(); ++i) {
        double sum = 0.0;
        for (double const value : w.row(i)) sum += value;
        if (!(std::abs(sum - 1.0) <= 1e-9)) return what + std::to_string(i) + " sums to " + std::to_string(sum) + ", not to 1";
    }
    return {};
}

}  // namespace detail

/// What keeps W from being stochastic, "row 3 sums to 1.25, not to 1", where there is anything: sums that are off by more
/// than 1e-9, negative numbers and such that are none.
inline std::string stochastic_flaw(mixing_matrix const& w, stochastic wanted) {
    for (rank_id i = 0; i < w.size(); ++i)
        for (rank_id j = 0; j < w.size(); ++j)
            if (!(w.row(i)[j] >= 0.0))
                return "rank " + std::to_string(i) + " takes " + std::to_string(w.row(i)[j]) + " of rank " + std::to_string(j);
    std::string flaw;
    if (wanted != stochastic::columns) flaw = detail::sum_flaw(w, "row ");
    if (wanted != stochastic::rows && flaw.empty()) flaw = detail::sum_flaw(w.transposed(), "column ");
    return flaw;
}

/// Throws `invalid_argument` with what `stochastic_flaw` says.
inline void expect_stochastic(mixing_matrix const& w, stochastic wanted) {
    std::string const flaw = stochastic_flaw(w, wanted);
    detail::expects(flaw.empty(), [&] { return "mixing matrix of " + std::to_string(w.size()) + " ranks: " + flaw; });
}

}  // namespace chorus::topo
