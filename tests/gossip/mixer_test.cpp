// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/gossip/mixer.hpp"

#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/expander.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/given_graph.hpp"
#include "chorus/topo/hypercube_graph.hpp"
#include "chorus/topo/mixing.hpp"
#include "chorus/topo/one_peer_exponential.hpp"
#include "chorus/topo/one_peer_hypercube.hpp"
#include "chorus/topo/random_matching.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "chorus/topo/star.hpp"
#include "chorus/transport/simulated.hpp"
#include "suites/gossip_ranks.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::progress;
using chorus::rank_id;
using chorus::step_id;
using chorus::gossip::mixer;
using chorus::gossip::mixing_options;
using chorus::topo::any_graph;
using suites::alone;
namespace topo = chorus::topo;

namespace {

using mixing_ranks = suites::gossip_ranks<mixer>;

mixing_ranks ranks_on(any_graph const& graph, rank_id p, std::size_t count, mixing_options const& options = alone, chorus::simulated_options const& how = {.delay = 20}) {
    return {p, count, [&](auto& world, auto& values, rank_id) { return mixer{world, values, graph, topo::metropolis{}, options}; }, how};
}

std::vector<any_graph> const& doubly_stochastic_graphs() {
    static std::vector<any_graph> const all{topo::ring_graph{}, topo::star{}, topo::full{}, topo::one_peer_exponential{}, topo::expander{}, topo::random_matching{.seed = 3}};
    return all;
}

}  // namespace

TEST_CASE("the mean is kept and the distance from it falls as the matrix says, on every graph, at every number of ranks") {
    for (any_graph const& graph : doubly_stochastic_graphs())
        for (rank_id p = 1; p <= 17; ++p) {
            CAPTURE(graph.describe());
            CAPTURE(p);
            auto ranks = ranks_on(graph, p, 5);
            auto const mean = ranks.mean();
            double distance = ranks.distance(mean);
            for (step_id t = 0; t < 8; ++t) {
                REQUIRE(ranks.step(t) == progress::done);
                CHECK(suites::difference(ranks.mean(), mean) < 1e-9);
                double const now = ranks.distance(mean);
                CHECK(now <= distance * topo::contraction(topo::graph_matrix(graph, topo::metropolis{}, t, p)) + 1e-9);
                distance = now;
            }
        }
}

TEST_CASE("a step is what the matrix makes of the values, to the bit where halves and quarters are exact") {
    for (any_graph const& graph : {any_graph{topo::full{}}, any_graph{topo::one_peer_exponential{}}})
        for (rank_id p : {2u, 4u}) {
            auto ranks = ranks_on(graph, p, 300);
            for (step_id t = 0; t < 4; ++t) {
                auto const before = ranks.values;
                auto const w = topo::graph_matrix(graph, topo::metropolis{}, t, p);
                REQUIRE(ranks.step(t) == progress::done);
                for (std::size_t i = 0; i < 300; ++i) {
                    std::vector<double> column;
                    for (auto const& mine : before) column.push_back(mine[i]);
                    auto const expected = w.applied(column);
                    for (rank_id r = 0; r < p; ++r) CHECK(ranks.values[r][i] == expected[r]);
                }
            }
        }
}

TEST_CASE("one-peer exponential reaches the exact mean of whole numbers after log2 p steps") {
    for (rank_id p : {2u, 4u, 8u, 16u}) {
        auto ranks = ranks_on(topo::one_peer_exponential{}, p, 33);
        auto const mean = ranks.mean();
        for (step_id t = 0; (rank_id{1} << t) < p; ++t) REQUIRE(ranks.step(t) == progress::done);
        for (auto const& mine : ranks.values) CHECK(mine == mean);
    }
}

TEST_CASE("what is added between start and the end is kept, and the mean moves by the mean of it; or is lost when told so") {
    for (bool keeps : {true, false}) {
        auto options = alone;
        options.keeps_progress = keeps;
        auto ranks = ranks_on(topo::ring_graph{}, 5, 7, options);
        auto mixed = ranks_on(topo::ring_graph{}, 5, 7);
        auto const before = ranks.mean();
        REQUIRE(mixed.step(0) == progress::done);
        REQUIRE(ranks.step(0, [&](rank_id r) {
            for (double& x : ranks.values[r]) x -= 4.0 * r;  // a gradient
        }) == progress::done);
        for (rank_id r = 0; r < 5; ++r)
            for (std::size_t i = 0; i < 7; ++i) CHECK(ranks.values[r][i] == doctest::Approx(mixed.values[r][i] - (keeps ? 4.0 * r : 0.0)));
        CHECK(ranks.mean()[0] == doctest::Approx(before[0] - (keeps ? 8.0 : 0.0)));
    }
}

TEST_CASE("GOS-1: one rank keeps its own value over every graph") {
    for (any_graph const& graph : doubly_stochastic_graphs()) {
        auto ranks = ranks_on(graph, 1, 9);
        auto const before = ranks.values[0];
        for (step_id t = 0; t < 3; ++t) REQUIRE(ranks.step(t) == progress::done);
        CHECK(ranks.values[0] == before);
        CHECK(ranks.methods[0].counts().messages == 0);
    }
}

TEST_CASE("GOS-3: who has no partner keeps its value, and the mean is kept") {
    for (rank_id p : {3u, 5u, 6u, 7u, 9u})
        for (any_graph const& graph : {any_graph{topo::random_matching{.seed = 5}}, any_graph{topo::one_peer_hypercube{}}}) {
            CAPTURE(graph.describe());
            CAPTURE(p);
            auto ranks = ranks_on(graph, p, 3);
            auto const mean = ranks.mean();
            for (step_id t = 0; t < 12; ++t) {
                auto const before = ranks.values;
                REQUIRE(ranks.step(t) == progress::done);
                for (rank_id r = 0; r < p; ++r)
                    if (graph.at(t, r, p).from.empty()) CHECK(ranks.values[r] == before[r]);
                CHECK(suites::difference(ranks.mean(), mean) < 1e-9);
            }
        }
}

TEST_CASE("GOS-8: a line of five keeps the mean in every round, and its spread falls steadily below 1e-6") {
    topo::given_graph const line{{{1}, {0, 2}, {1, 3}, {2, 4}, {3}}};
    auto ranks = ranks_on(line, 5, 1);
    for (rank_id r = 0; r < 5; ++r) ranks.values[r][0] = r;
    double spread = 4.0;
    for (step_id t = 0; t < 400; ++t) {
        REQUIRE(ranks.step(t) == progress::done);
        double low = 1e9, high = -1e9;
        for (auto const& mine : ranks.values) {
            low = std::fmin(low, mine[0]);
            high = std::fmax(high, mine[0]);
        }
        CHECK(std::fabs(ranks.mean()[0] - 2.0) < 1e-12);
        CHECK(high - low <= spread + 1e-15);
        spread = high - low;
    }
    CHECK(spread < 1e-6);
}
