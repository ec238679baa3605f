// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/topo/graph.hpp"
#include "chorus/topo/weights.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::gossip::detail {

/// A graph in which ranks talk at every step to all whom they meet within the period of another: nobody misses a message.
template <topo::graph Graph>
struct standing_graph {
    static constexpr std::string_view name = Graph::name;
    static constexpr step_id longest = 4096;

    Graph inner;

    step_id period(rank_id size) const { return inner.period(size); }

    topo::neighbours at(step_id, rank_id rank, rank_id size) const {
        step_id const steps = period(size);
        chorus::detail::expects(steps > 0 && steps <= longest, [&] {
            return std::string{name} + " of " + std::to_string(size) + " ranks has " + (steps == 0 ? "no period" : "a period of " + std::to_string(steps)) +
                   ", and estimates are kept of all who are ever neighbours: expected a period of 1 to " + std::to_string(longest);
        });
        topo::neighbours all;
        for (step_id step = 0; step < steps; ++step) {
            topo::neighbours const met = inner.at(step, rank, size);
            all.to = united(all.to, met.to);
            all.from = united(all.from, met.from);
        }
        return all;
    }

 private:
    static std::vector<rank_id> united(std::vector<rank_id> const& a, std::vector<rank_id> const& b) {
        std::vector<rank_id> both;
        std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
        return both;
    }
};

/// The weights that each step of the graph inside has, 0 for who is no neighbour then.
template <topo::weighting Weighting>
struct standing_weights {
    static constexpr std::string_view name = Weighting::name;

    Weighting inner;

    template <topo::graph Graph>
    topo::mixing_row row(Graph const& g, step_id step, rank_id rank, rank_id size) const {
        return inner.row(g, step, rank, size);
    }
    template <topo::graph Graph>
    topo::mixing_row row(standing_graph<Graph> const& g, step_id step, rank_id rank, rank_id size) const {
        topo::neighbours all = g.at(step, rank, size);
        topo::mixing_row const now = inner.row(g.inner, step, rank, size);
        std::vector<double> weights(all.from.size());
        for (std::size_t k = 0; k < now.from.size() && k < now.weights.size(); ++k) {
            auto const place = std::lower_bound(all.from.begin(), all.from.end(), now.from[k]);
            if (place != all.from.end()) weights[static_cast<std::size_t>(place - all.from.begin())] = now.weights[k];
        }
        return {now.own, std::move(all.from), std::move(weights), std::move(all.to)};
    }
};

}  // namespace chorus::gossip::detail
