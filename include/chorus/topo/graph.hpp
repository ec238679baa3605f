// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"

#include <algorithm>
#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::topo {

/// Whom one rank sends to and hears from at one step: ascending, without the rank itself, each once. j is in `to` of i
/// exactly when i is in `from` of j.
struct neighbours {
    std::vector<rank_id> to;
    std::vector<rank_id> from;

    friend bool operator==(neighbours const&, neighbours const&) = default;
};

/// Who talks to whom, as a pure function of step, rank and size: every rank can tell every other's neighbours, and
/// nothing needs to be agreed on by messages. Steps count from 0. Every graph takes every size from 1 on, or throws
/// `invalid_argument`, then on every rank alike. A single rank has no neighbours.
template <class G>
concept graph = std::copyable<G> && requires(G const& g, step_id step, rank_id rank, rank_id size) {
    { G::name } -> std::convertible_to<std::string_view>;
    { g.at(step, rank, size) } -> std::same_as<neighbours>;
    { g.period(size) } -> std::same_as<step_id>;  // at(step + period) == at(step), at least 1; 0: not periodic
};

/// One rank's part of the mixing matrix W at one step: x_i becomes own * x_i + sum of weights[k] * x_from[k]. One weight
/// for each rank in `from`; both lists as in `neighbours`.
struct mixing_row {
    double own = 1.0;
    std::vector<rank_id> from;
    std::vector<double> weights;
    std::vector<rank_id> to;

    friend bool operator==(mixing_row const&, mixing_row const&) = default;
};

namespace detail {

using chorus::detail::expects;

inline std::string who(std::string_view graph, step_id step, rank_id rank, rank_id size) {
    return std::string{graph} + ", rank " + std::to_string(rank) + " of " + std::to_string(size) + " at step " +
           std::to_string(step);
}

/// Throws `invalid_argument` unless the list is one of `neighbours`.
inline void expect_list(std::vector<rank_id> const& list, std::string_view graph, step_id step, rank_id rank,
                        rank_id size) {
    for (rank_id const peer : list)
        expects(peer < size && peer != rank, [&] {
            return who(graph, step, rank, size) + ": names rank " + std::to_string(peer) +
                   (peer == rank ? ", which is the rank itself" : ", which does not exist");
        });
    expects(std::adjacent_find(list.begin(), list.end(), std::greater_equal<>{}) == list.end(), [&] {
        return who(graph, step, rank, size) + ": a neighbour is named twice, or they are not ascending";
    });
}

}  // namespace detail

/// Throws `invalid_argument`, naming two ranks, unless the lists of all ranks at this step are as `neighbours` says.
/// Local | asks the graph once for each rank | the library's own graphs need no check.
template <graph G>
void expect_mirrored(G const& g, step_id step, rank_id size) {
    std::vector<neighbours> all;
    for (rank_id rank = 0; rank < size; ++rank) {
        all.push_back(g.at(step, rank, size));
        detail::expect_list(all.back().to, G::name, step, rank, size);
        detail::expect_list(all.back().from, G::name, step, rank, size);
    }
    auto expect_answered = [&](rank_id rank, rank_id peer, std::vector<rank_id> const& answer, std::string_view does,
                               std::string_view answers) {
        detail::expects(std::binary_search(answer.begin(), answer.end(), rank), [&] {
            return detail::who(G::name, step, rank, size) + std::string{does} + "rank " + std::to_string(peer) +
                   ", which does not " + std::string{answers} + " it";
        });
    };
    for (rank_id rank = 0; rank < size; ++rank) {
        for (rank_id const peer : all[rank].to) expect_answered(rank, peer, all[peer].from, ": sends to ", "hear from");
        for (rank_id const peer : all[rank].from) expect_answered(rank, peer, all[peer].to, ": hears from ", "send to");
    }
}

}  // namespace chorus::topo
