// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/topo/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::topo {

// How much a rank takes from each neighbour. Row i of W is what rank i does; rows that sum to 1 keep equal values equal,
// columns that sum to 1 keep the sum over all ranks. "Balanced": every rank sends to as many as it hears from.

namespace detail {

/// The row with these weights; the rank itself keeps what is left of 1.
inline mixing_row row_keeping_rest(neighbours&& met, std::vector<double>&& weights) {
    double own = 1.0;
    for (double const weight : weights) own -= weight;
    return {own, std::move(met.from), std::move(weights), std::move(met.to)};
}

inline std::size_t degree_of(neighbours const& met) { return (std::max)(met.to.size(), met.from.size()); }

inline double share(std::size_t degree) { return 1.0 / (1.0 + static_cast<double>(degree)); }

/// Has edges, and nothing else: what concepts are checked with.
struct any_edges {
    static constexpr std::string_view name = "any_edges";
    neighbours at(step_id, rank_id, rank_id) const { return {}; }
    step_id period(rank_id) const { return 1; }
};

}  // namespace detail

/// How rows are made from any graph. Pure | local: asks the graph, sends nothing.
template <class W>
concept weighting = std::copyable<W> && requires(W const& w, detail::any_edges const& g, step_id step, rank_id rank,
                                                 rank_id size) {
    { W::name } -> std::convertible_to<std::string_view>;
    { w.row(g, step, rank, size) } -> std::same_as<mixing_row>;
};

/// 1 / (1 + the larger of both ranks' degrees), a rank's degree being the larger of how many it sends to and hears from.
///
/// rows sum to 1 | columns too where edges go both ways (then W is symmetric) or all ranks have one degree | asks for the
/// rank and those it hears from
/// L. Xiao, S. Boyd, S.-J. Kim, "Distributed average consensus with least-mean-square deviation" (2007)
struct metropolis {
    static constexpr std::string_view name = "metropolis";

    template <graph G>
    mixing_row row(G const& g, step_id step, rank_id rank, rank_id size) const {
        neighbours met = g.at(step, rank, size);
        std::size_t const degree = detail::degree_of(met);
        std::vector<double> weights;
        for (rank_id const peer : met.from)
            weights.push_back(detail::share((std::max)(degree, detail::degree_of(g.at(step, peer, size)))));
        return detail::row_keeping_rest(std::move(met), std::move(weights));
    }

    friend bool operator==(metropolis const&, metropolis const&) = default;
};
static_assert(weighting<metropolis>);

/// 1 / (1 + the largest degree of all ranks at this step).
///
/// rows sum to 1 | columns too where the graph is balanced | asks for all ranks: O(size) for each row
struct max_degree {
    static constexpr std::string_view name = "max_degree";

    template <graph G>
    mixing_row row(G const& g, step_id step, rank_id rank, rank_id size) const {
        std::size_t largest = 0;
        for (rank_id peer = 0; peer < size; ++peer)
            largest = (std::max)(largest, detail::degree_of(g.at(step, peer, size)));
        neighbours met = g.at(step, rank, size);
        std::vector<double> weights(met.from.size(), detail::share(largest));
        return detail::row_keeping_rest(std::move(met), std::move(weights));
    }

    friend bool operator==(max_degree const&, max_degree const&) = default;
};
static_assert(weighting<max_degree>);

/// 1 / (1 + in-degree) for every rank heard from and for itself: the plain mean of what is there.
///
/// rows sum to 1 | columns too where all ranks have one degree | asks for the rank alone
struct uniform {
    static constexpr std::string_view name = "uniform";

    template <graph G>
    mixing_row row(G const& g, step_id step, rank_id rank, rank_id size) const {
        neighbours met = g.at(step, rank, size);
        std::vector<double> weights(met.from.size(), detail::share(met.from.size()));
        return detail::row_keeping_rest(std::move(met), std::move(weights));
    }

    friend bool operator==(uniform const&, uniform const&) = default;
};
static_assert(weighting<uniform>);

/// Every rank cuts what it has into 1 + out-degree equal shares, keeps one and sends the others.
///
/// columns sum to 1 on every graph | rows only where all ranks have one degree: for push-sum, which divides by what its
/// own weight has become | asks for the rank and those it hears from
/// D. Kempe, A. Dobra, J. Gehrke, "Gossip-based computation of aggregate information" (2003)
struct out_degree {
    static constexpr std::string_view name = "out_degree";

    template <graph G>
    mixing_row row(G const& g, step_id step, rank_id rank, rank_id size) const {
        neighbours met = g.at(step, rank, size);
        std::vector<double> weights;
        for (rank_id const peer : met.from) weights.push_back(detail::share(g.at(step, peer, size).to.size()));
        double const own = detail::share(met.to.size());
        return {own, std::move(met.from), std::move(weights), std::move(met.to)};
    }

    friend bool operator==(out_degree const&, out_degree const&) = default;
};
static_assert(weighting<out_degree>);

/// (I + W) / 2 for the W of another weighting: every rank keeps half of what it has and mixes the rest. No eigenvalue of a symmetric W is negative then, which
/// methods that correct themselves ask for.
///
/// sums as those of the weighting inside | asks for what that asks for
template <weighting Inner>
struct lazy {
    static constexpr std::string_view name = "lazy";
    Inner inner = {};

    template <graph G>
    mixing_row row(G const& g, step_id step, rank_id rank, rank_id size) const {
        mixing_row made = inner.row(g, step, rank, size);
        made.own = 0.5 + made.own / 2;
        for (double& weight : made.weights) weight /= 2;
        return made;
    }

    friend bool operator==(lazy const&, lazy const&) = default;
};
static_assert(weighting<lazy<metropolis>>);

}  // namespace chorus::topo
