// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/detail/edge_colours.hpp"
#include "chorus/topo/detail/graph_text.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/graph.hpp"
#include "chorus/topo/torus.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::topo {

/// A part of a whole graph's edges at each step: those are cut into matchings, and each matching is there with the probability `budget`, drawn from a seed that
/// all share. A matching takes the time of one message, so a step takes on average that share of the whole graph's, while every edge is there in its turn.
///
/// degree: that of the whole graph at most, `budget` of it on average | at most one matching more than the largest degree | period that of the whole graph if `budget` is 1,
/// otherwise none | edges go both ways, as those of the whole graph must: throws otherwise, or if `budget` is not in (0, 1] | O(edges * (p + degree²)) time for each call
/// All matchings have one probability; the paper also chooses those by the gap, which takes a convex solver.
/// J. Wang, A. K. Sahu, Z. Yang, G. Joshi, S. Kar, "MATCHA: speeding up decentralized SGD via matching decomposition sampling" (2019)
struct matching_budget {
    static constexpr std::string_view name = "matching_budget";
    any_graph whole = torus{};
    double budget = 0.5;
    std::uint64_t seed = 0;

    neighbours at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        expect_budget();
        if (budget == 1.0) return both_ways_at(step, rank, size);
        detail::edge_colours const cut{edges(step, size)};
        counter_random const random{seed, step};
        std::vector<rank_id> ranks;
        for (std::size_t m = 0; m < cut.colours(); ++m)
            if (cut.met(rank, m) != nobody && random.unit(m) < budget) ranks.push_back(cut.met(rank, m));
        return detail::both_ways(std::move(ranks), rank);
    }
    step_id period(rank_id size) const { return budget == 1.0 || size < 2 ? whole.period(size) : 0; }

    /// For each matching of the whole graph at this step the partner of each rank, or nobody; no matching is empty.
    std::vector<std::vector<rank_id>> matchings(step_id step, rank_id size) const {
        detail::edge_colours const cut{edges(step, size)};
        std::vector<std::vector<rank_id>> all;
        for (std::size_t m = 0; m < cut.colours(); ++m) {
            std::vector<rank_id> partners;
            bool is_empty = true;
            for (rank_id rank = 0; rank < size; ++rank) {
                partners.push_back(cut.met(rank, m));
                is_empty = is_empty && partners.back() == nobody;
            }
            if (!is_empty) all.push_back(std::move(partners));
        }
        return all;
    }

    std::string describe() const {
        std::string parts;
        if (whole != any_graph{torus{}}) parts = "(" + whole.describe();
        std::string const others = chorus::detail::changed_parameters(*this, matching_budget{}, detail::with_graph_parameters{});
        if (!others.empty()) parts += parts.empty() ? others : ", " + others.substr(1);
        return std::string{name} + (parts.empty() ? parts : parts + ')');
    }

    friend bool operator==(matching_budget const&, matching_budget const&) = default;

 private:
    void expect_budget() const {
        detail::expects(budget > 0.0 && budget <= 1.0, [&] { return "matching_budget: the budget is " + std::to_string(budget) + "; it must be above 0 and at most 1"; });
    }
    neighbours both_ways_at(step_id step, rank_id rank, rank_id size) const {
        neighbours met = whole.at(step, rank, size);
        detail::expects(met.to == met.from, [&] { return detail::who(whole.kind(), step, rank, size) + ": has edges of one way, which cannot be cut into matchings"; });
        return met;
    }
    std::vector<std::vector<rank_id>> edges(step_id step, rank_id size) const {
        std::vector<std::vector<rank_id>> all;
        for (rank_id rank = 0; rank < size; ++rank) all.push_back(both_ways_at(step, rank, size).to);
        return all;
    }
};
static_assert(graph<matching_budget>);

}  // namespace chorus::topo
