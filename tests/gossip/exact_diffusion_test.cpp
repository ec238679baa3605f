// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/gossip/exact_diffusion.hpp"

#include "chorus/gossip/mixer.hpp"
#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/any_weighting.hpp"
#include "chorus/topo/expander.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/mixing_matrix.hpp"
#include "chorus/topo/one_peer_exponential.hpp"
#include "chorus/topo/one_peer_hypercube.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "chorus/topo/star.hpp"
#include "chorus/transport/simulated.hpp"
#include "suites/expected_error.hpp"
#include "suites/gossip_ranks.hpp"
#include "suites/quadratics.hpp"

#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::progress;
using chorus::rank_id;
using chorus::step_id;
using chorus::gossip::exact_diffusion;
using chorus::gossip::mixer;
using chorus::gossip::mixing_options;
using chorus::topo::any_graph;
using suites::quadratics;
using suites::alone;
namespace topo = chorus::topo;

namespace {

constexpr double rate = 0.1;

using diffusing_ranks = suites::gossip_ranks<exact_diffusion>;

template <class Weighting = topo::lazy<topo::metropolis>>
diffusing_ranks ranks_on(any_graph const& graph, rank_id p, std::size_t count, Weighting const& weights = {}) {
    return {p, count, [&](auto& world, auto& values, rank_id) { return exact_diffusion{world, values, graph, weights, alone}; }};
}

template <class Ranks>
void descend(Ranks& ranks, step_id t) {
    for (rank_id r = 0; r < ranks.size(); ++r)
        for (std::size_t i = 0; i < ranks.values[r].size(); ++i) ranks.values[r][i] -= rate * quadratics::gradient(r, i, ranks.values[r][i]);
    REQUIRE(ranks.step(t) == progress::done);
}

}  // namespace

TEST_CASE("exact diffusion comes to the minimum of the mean at a constant rate, where plain mixing stays away from it, at every number of ranks") {
    for (rank_id p = 1; p <= 17; ++p)
        for (any_graph const& graph : {any_graph{topo::ring_graph{}}, any_graph{topo::expander{}}, any_graph{topo::star{}}}) {
            CAPTURE(p);
            CAPTURE(graph.describe());
            auto exact = ranks_on(graph, p, 2);
            suites::gossip_ranks<mixer> plain{p, 2, [&](auto& world, auto& values, rank_id) { return mixer{world, values, graph, topo::lazy<topo::metropolis>{}, alone}; }};
            for (step_id t = 0; t < 1500; ++t) {
                descend(exact, t);
                descend(plain, t);
            }
            auto const optimum = quadratics::optimum(p, 2);
            CHECK(exact.distance(optimum) < 1e-8);
            if (p > 2) CHECK(plain.distance(optimum) > 0.05);
        }
}

TEST_CASE("GOS-1: with W = J exact diffusion is a step along the mean of the gradients, BSP; of one rank along its own") {
    for (rank_id p = 1; p <= 17; ++p) {
        auto ranks = ranks_on(topo::full{}, p, 5, topo::metropolis{});
        for (rank_id r = 1; r < p; ++r) ranks.values[r] = ranks.values[0];
        auto x = ranks.values[0];
        for (step_id t = 0; t < 20; ++t) {
            for (std::size_t i = 0; i < x.size(); ++i) {
                double sum = 0.0;
                for (rank_id r = 0; r < p; ++r) sum += quadratics::gradient(r, i, x[i]);
                x[i] -= rate * sum / p;
            }
            descend(ranks, t);
            for (auto const& mine : ranks.values) CHECK(suites::difference(mine, x) < 1e-9);
        }
    }
}

TEST_CASE("every step is x' = W (psi + x - last psi), and the mean of all ranks moves by the mean of the updates") {
    for (rank_id p : {2u, 3u, 5u, 8u}) {
        auto ranks = ranks_on(topo::ring_graph{}, p, 1);
        auto const w = topo::graph_matrix(topo::ring_graph{}, topo::lazy<topo::metropolis>{}, 0, p);
        std::vector<double> x(p), psi(p), last;
        for (rank_id r = 0; r < p; ++r) x[r] = ranks.values[r][0];
        last = x;  // of step -1, by which the first correction is 0
        for (step_id t = 0; t < 30; ++t) {
            double mean = 0.0;
            for (rank_id r = 0; r < p; ++r) {
                psi[r] = x[r] - rate * quadratics::gradient(r, 0, x[r]);
                mean += psi[r] / p;
            }
            auto corrected = psi;
            for (rank_id r = 0; r < p; ++r) corrected[r] += x[r] - last[r];
            x = w.applied(corrected);
            last = psi;
            descend(ranks, t);
            for (rank_id r = 0; r < p; ++r) CHECK(ranks.values[r][0] == doctest::Approx(x[r]).epsilon(1e-9));
            CHECK(ranks.mean()[0] == doctest::Approx(mean).epsilon(1e-9));
        }
    }
}

TEST_CASE("what is added while messages are under way is kept, and so is the mean of it") {
    auto ranks = ranks_on(topo::ring_graph{}, 5, 7);
    auto const before = ranks.mean();
    REQUIRE(ranks.step(0, [&](rank_id r) { for (double& x : ranks.values[r]) x += r; }) == progress::done);
    for (std::size_t i = 0; i < 7; ++i) CHECK(ranks.mean()[i] == doctest::Approx(before[i] + 2.0));
    REQUIRE(ranks.step(1) == progress::done);
    for (std::size_t i = 0; i < 7; ++i) CHECK(ranks.mean()[i] == doctest::Approx(before[i] + 2.0));
}

TEST_CASE("graphs that change, edges that go one way and weights that are not symmetric are refused, and so is skipping") {
    auto const refused = [](any_graph const& graph, topo::any_weighting const& weights, std::initializer_list<std::string_view> words, mixing_options const& options = alone) {
        chorus::simulated_network network{4};
        chorus::group<chorus::simulated_transport> world{network.endpoint(0)};
        std::vector<double> values(3, 1.0);
        CHECK(suites::unlike(errc::invalid_argument, words, [&] { exact_diffusion{world, values, graph, weights, options}; }) == "");
    };
    refused(topo::one_peer_hypercube{}, {}, {"exact_diffusion", "changes"});
    refused(topo::ring_graph{.is_directed = true}, {}, {"symmetric"});
    refused(topo::star{}, topo::uniform{}, {"sums to", "mean would not be kept"});
    refused(topo::ring_graph{}, {}, {"exact_diffusion", "none can be skipped"}, {.late = chorus::gossip::when_late::skip, .is_checked = false});
}
