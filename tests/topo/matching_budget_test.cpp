// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/matching_budget.hpp"

#include "chorus/topo/expander.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/graphs.hpp"
#include "chorus/topo/hypercube_graph.hpp"
#include "chorus/topo/mixing.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "chorus/topo/star.hpp"
#include "suites/expected_error.hpp"
#include "suites/graph_suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using namespace chorus;
using topo::any_graph;
using topo::matching_budget;

namespace {

std::vector<any_graph> const& wholes() {
    static std::vector<any_graph> const all{topo::ring_graph{}, topo::torus{}, topo::star{}, topo::hypercube_graph{}, topo::expander{.cycles = 3}, topo::full{}};
    return all;
}

std::size_t edges_of(any_graph const& g, step_id step, rank_id size) {
    std::size_t ends = 0;
    for (rank_id rank = 0; rank < size; ++rank) ends += g.at(step, rank, size).to.size();
    return ends / 2;
}

}  // namespace

TEST_CASE("GOS-1, GOS-2, GOS-3: matching_budget keeps all laws of a graph") {
    suites::graph_suite(matching_budget{.whole = topo::ring_graph{}, .budget = 0.75, .seed = 7}, {.largest_degree = 2});
}

TEST_CASE("the matchings are a partition of the edges, as few as the largest degree or one more, and no rank is twice in one") {
    for (any_graph const& whole : wholes())
        for (rank_id size = 1; size <= 17; ++size) {
            CAPTURE(whole.describe());
            CAPTURE(size);
            std::set<std::pair<rank_id, rank_id>> seen;
            std::size_t edges = 0, degree = 0;
            auto const matchings = matching_budget{.whole = whole}.matchings(0, size);
            for (auto const& partners : matchings) {
                REQUIRE(partners.size() == size);
                for (rank_id rank = 0; rank < size; ++rank) {
                    if (partners[rank] == nobody) continue;
                    REQUIRE(partners[rank] < size);
                    if (partners[partners[rank]] != rank || partners[rank] == rank) FAIL("rank " << rank << " is in two pairs of one matching");
                    auto const to = whole.at(0, rank, size).to;
                    if (!std::binary_search(to.begin(), to.end(), partners[rank])) FAIL("an edge that the whole graph does not have");
                    if (rank < partners[rank]) {
                        ++edges;
                        seen.emplace(rank, partners[rank]);
                    }
                }
            }
            for (rank_id rank = 0; rank < size; ++rank) degree = (std::max)(degree, whole.at(0, rank, size).to.size());
            CHECK(edges == edges_of(whole, 0, size));
            CHECK(seen.size() == edges);
            CHECK(matchings.size() >= degree);
            CHECK(matchings.size() <= degree + 1);
        }
}

TEST_CASE("of each step the edges are those of whole matchings; on average the budget's share of all; with budget 1 all") {
    for (double budget : {0.1, 0.5, 0.9}) {
        matching_budget const g{.whole = topo::hypercube_graph{}, .budget = budget, .seed = 11};
        rank_id const size = 8;
        auto const matchings = g.matchings(0, size);
        std::size_t active = 0;
        step_id const steps = 600;
        for (step_id step = 0; step < steps; ++step) {
            auto const there = [&](rank_id rank, rank_id peer) {
                auto const to = g.at(step, rank, size).to;
                return std::binary_search(to.begin(), to.end(), peer);
            };
            active += edges_of(g, step, size);
            if (step % 16 != 0) continue;
            for (auto const& partners : matchings) {
                std::set<bool> seen;
                for (rank_id rank = 0; rank < size; ++rank)
                    if (partners[rank] != nobody) seen.insert(there(rank, partners[rank]));
                if (seen.size() != 1) FAIL("half of a matching at step " << step);
            }
        }
        double const mean = static_cast<double>(active) / (static_cast<double>(steps) * static_cast<double>(edges_of(g.whole, 0, size)));
        CHECK(std::fabs(mean - budget) < 0.06);  // five standard deviations of three matchings or four
    }
    for (any_graph const& whole : wholes())
        for (rank_id size : {1u, 2u, 5u, 8u})
            for (rank_id rank = 0; rank < size; ++rank) {
                CHECK(matching_budget{.whole = whole, .budget = 1.0}.at(3, rank, size) == whole.at(3, rank, size));
                CHECK(matching_budget{.whole = whole, .budget = 1.0}.period(size) == whole.period(size));
            }
}

TEST_CASE("every budget mixes: the union over some steps reaches everybody, and on average the squared distance falls") {
    for (any_graph const& whole : wholes())
        for (double budget : {0.1, 0.5})
            for (rank_id size : {2u, 7u}) {
                CAPTURE(whole.describe());
                CAPTURE(size);
                matching_budget const g{.whole = whole, .budget = budget, .seed = 3};
                step_id const steps = 150;
                auto const matrix_at = [&](step_id step) { return topo::graph_matrix(g, topo::metropolis{}, step, size); };
                CHECK_FALSE(topo::find_unreachable(matrix_at, steps, size).has_value());
                // The mean of WᵀW: what is left of it in the worst direction is what is left of the squared distance in expectation.
                topo::mixing_matrix mean{size};
                for (rank_id i = 0; i < size; ++i)
                    for (double& value : mean.row(i)) value = 0.0;
                for (step_id step = 0; step < steps; ++step) {
                    auto const w = matrix_at(step);
                    auto const square = w.transposed() * w;
                    for (rank_id i = 0; i < size; ++i)
                        for (rank_id j = 0; j < size; ++j) mean.row(i)[j] += square.row(i)[j] / static_cast<double>(steps);
                }
                double const left = topo::contraction(mean);
                CHECK(left < 1.0 - 1e-3);
                if (budget > 0.1) CHECK(left < 0.99);
            }
}

TEST_CASE("matching_budget by text, and what it refuses") {
    using topo::graph_named;
    for (std::string_view text : {"matching_budget", "matching_budget(full)", "matching_budget(budget=0.25)", "matching_budget(expander(cycles=3), budget=0.125, seed=9)"}) {
        CHECK(graph_named(text).describe() == text);
        for (step_id step = 0; step < 8; ++step) CHECK(graph_named(text).at(step, 2, 6) == graph_named(graph_named(text).describe()).at(step, 2, 6));
    }
    CHECK(graph_named("matching_budget(full, budget=0.25, seed=4)").at(5, 1, 9) == matching_budget{topo::full{}, 0.25, 4}.at(5, 1, 9));
    CHECK(suites::unlike(errc::invalid_argument, {"one graph inside"}, [] { graph_named("matching_budget(full, star)"); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"matching_budget has no parameter rows; it has budget, seed"}, [] { graph_named("matching_budget(full, rows=3)"); }) == "");
    for (double budget : {0.0, -0.5, 1.5, std::nan("")})
        CHECK(suites::unlike(errc::invalid_argument, {"budget is"}, [&] { matching_budget{.budget = budget}.at(0, 0, 4); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"edges of one way", "ring_graph"}, [] { matching_budget{.whole = topo::ring_graph{.is_directed = true}}.at(0, 0, 4); }) == "");
}
