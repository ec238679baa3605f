// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/gossip/gradient_tracking.hpp"

#include "chorus/gossip/mixer.hpp"
#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/any_weighting.hpp"
#include "chorus/topo/expander.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/mixing_matrix.hpp"
#include "chorus/topo/one_peer_exponential.hpp"
#include "chorus/topo/random_matching.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "chorus/topo/star.hpp"
#include "chorus/topo/torus.hpp"
#include "chorus/transport/simulated.hpp"
#include "suites/expected_error.hpp"
#include "suites/gossip_ranks.hpp"
#include "suites/quadratics.hpp"

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::progress;
using chorus::rank_id;
using chorus::step_id;
using chorus::gossip::gradient_tracking;
using chorus::gossip::mixer;
using chorus::gossip::mixing_options;
using chorus::topo::any_graph;
using suites::quadratics;
using suites::alone;
namespace topo = chorus::topo;

namespace {


struct tracking_ranks {
    tracking_ranks(any_graph const& graph, rank_id p, std::size_t count)
        : gradients(p, std::vector<double>(count)),
          ranks{p, count, [&](auto& world, auto& values, rank_id r) { return gradient_tracking{world, values, gradients[r], graph, topo::metropolis{}, alone}; }} {}

    void take_gradients() {
        for (rank_id r = 0; r < ranks.size(); ++r)
            for (std::size_t i = 0; i < gradients[r].size(); ++i) gradients[r][i] = quadratics::gradient(r, i, ranks.values[r][i]);
    }
    void step(step_id t, double rate) {
        auto const descend = [&](rank_id r) {
            for (std::size_t i = 0; i < gradients[r].size(); ++i) ranks.values[r][i] -= rate * gradients[r][i];
        };
        REQUIRE(ranks.step(t, descend) == progress::done);
    }
    double mean_gradient(std::size_t i) const {
        double sum = 0.0;
        for (auto const& mine : gradients) sum += mine[i];
        return sum / static_cast<double>(gradients.size());
    }

    std::vector<std::vector<double>> gradients;
    suites::gossip_ranks<gradient_tracking> ranks;
};

std::vector<any_graph> const& graphs() {
    static std::vector<any_graph> const all{topo::ring_graph{}, topo::ring_graph{.is_directed = true}, topo::expander{}, topo::one_peer_exponential{}, topo::random_matching{.seed = 3}, topo::full{}};
    return all;
}

}  // namespace

TEST_CASE("gradient tracking comes to the minimum of the mean at a constant rate, where plain mixing stays away from it, at every number of ranks") {
    double const rate = 0.02;
    for (rank_id p = 1; p <= 17; ++p)
        for (any_graph const& graph : {any_graph{topo::expander{}}, any_graph{topo::one_peer_exponential{}}, any_graph{topo::random_matching{.seed = 3}}}) {
            CAPTURE(p);
            CAPTURE(graph.describe());
            tracking_ranks track{graph, p, 1};
            suites::gossip_ranks<mixer> plain{p, 1, [&](auto& world, auto& values, rank_id) { return mixer{world, values, graph, topo::metropolis{}, alone}; }};
            for (step_id t = 0; t < 1200; ++t) {
                track.take_gradients();
                track.step(t, rate);
                for (rank_id r = 0; r < p; ++r) plain.values[r][0] -= rate * quadratics::gradient(r, 0, plain.values[r][0]);
                REQUIRE(plain.step(t) == progress::done);
            }
            auto const optimum = quadratics::optimum(p, 1);
            CHECK(track.ranks.distance(optimum) < 1e-5);
            if (p > 4) CHECK(plain.distance(optimum) > 1e-3);
        }
}

TEST_CASE("at every step the mean of the trackers is the mean of the gradients, whatever those are, and whatever the graph") {
    for (rank_id p = 1; p <= 17; ++p)
        for (any_graph const& graph : graphs()) {
            tracking_ranks track{graph, p, 3};
            for (step_id t = 0; t < 12; ++t) {
                chorus::counter_random const random{p, t};
                for (rank_id r = 0; r < p; ++r)
                    for (std::size_t i = 0; i < 3; ++i) track.gradients[r][i] = static_cast<double>(random.below(3 * r + i, 1001)) - 500.0;
                std::vector<double> const mean{track.mean_gradient(0), track.mean_gradient(1), track.mean_gradient(2)};
                track.step(t, 0.0);
                for (std::size_t i = 0; i < 3; ++i) CHECK(std::fabs(track.mean_gradient(i) - mean[i]) < 1e-9);
            }
        }
}

TEST_CASE("with a gradient that stays all trackers come to the mean of it; over one-peer exponential of powers of two exactly, after log2 p steps") {
    for (rank_id p : {1u, 2u, 4u, 8u, 16u}) {
        tracking_ranks track{topo::one_peer_exponential{}, p, 2};
        for (step_id t = 0; t <= 6; ++t) {
            for (rank_id r = 0; r < p; ++r) track.gradients[r] = {16.0 * r, 1.0 - r};
            track.step(t, 0.0);
        }
        for (rank_id r = 0; r < p; ++r) CHECK(track.gradients[r] == std::vector<double>{8.0 * (p - 1), 1.0 - (p - 1) / 2.0});
    }
}

TEST_CASE("every step is x' = W x - rate y and y' = W y + gradient' - gradient") {
    for (any_graph const& graph : graphs())
        for (rank_id p : {2u, 3u, 6u}) {
            tracking_ranks track{graph, p, 1};
            double const rate = 0.125;
            std::vector<double> x(p), y(p), last(p);
            for (rank_id r = 0; r < p; ++r) x[r] = track.ranks.values[r][0];
            for (step_id t = 0; t < 25; ++t) {
                auto const w = topo::graph_matrix(graph, topo::metropolis{}, t, p);
                for (rank_id r = 0; r < p; ++r) {
                    double const gradient = quadratics::gradient(r, 0, x[r]);
                    y[r] += gradient - last[r];
                    last[r] = gradient;
                }
                track.take_gradients();
                track.step(t, rate);
                for (rank_id r = 0; r < p; ++r) CHECK(track.gradients[r][0] == doctest::Approx(y[r]).epsilon(1e-8));
                x = w.applied(x);
                for (rank_id r = 0; r < p; ++r) x[r] -= rate * y[r];
                y = w.applied(y);
                for (rank_id r = 0; r < p; ++r) CHECK(track.ranks.values[r][0] == doctest::Approx(x[r]).epsilon(1e-8));
            }
        }
}

TEST_CASE("GOS-1: one rank alone descends along its own gradient, over every graph") {
    for (any_graph const& graph : graphs()) {
        tracking_ranks track{graph, 1, 2};
        auto x = track.ranks.values[0];
        for (step_id t = 0; t < 3; ++t) {
            for (std::size_t i = 0; i < 2; ++i) x[i] -= 0.5 * quadratics::gradient(0, i, x[i]);
            track.take_gradients();
            track.step(t, 0.5);
            CHECK(track.ranks.values[0] == x);
        }
    }
}

TEST_CASE("the largest rate: half the square of 1 + the least eigenvalue of W, by the curvature; 0.08 on a torus of 16 ranks") {
    auto const distance_at = [](double rate) {
        tracking_ranks track{topo::torus{}, 16, 1};
        for (step_id t = 0; t < 600; ++t) {
            for (rank_id r = 0; r < 16; ++r) track.gradients[r][0] = track.ranks.values[r][0] - r;  // curvature 1
            track.step(t, rate);
        }
        return track.ranks.distance({7.5});
    };
    CHECK(distance_at(0.07) < 1e-4);
    CHECK(distance_at(0.09) > 1e3);
}

TEST_CASE("weights whose columns do not sum to 1 are refused, and so are skipping and gradients that are not as many as the values") {
    auto const refused = [](any_graph const& graph, topo::any_weighting const& weights, std::size_t count, std::initializer_list<std::string_view> words, mixing_options const& options = alone) {
        chorus::simulated_network network{4};
        chorus::group<chorus::simulated_transport> world{network.endpoint(0)};
        std::vector<double> values(3, 1.0), gradients(count, 2.0);
        CHECK(suites::unlike(errc::invalid_argument, words, [&] { gradient_tracking{world, values, gradients, graph, weights, options}; }) == "");
        CHECK((values[0] == 1.0 && gradients[0] == 2.0));
    };
    refused(topo::star{}, topo::uniform{}, 3, {"rank 0 of 4", "sums to", "mean would not be kept"});
    refused(topo::full{}, {}, 2, {"gradient_tracking", "3 values", "2 gradients"});
    refused(topo::full{}, {}, 3, {"gradient_tracking", "none can be skipped"}, {.late = chorus::gossip::when_late::skip, .is_checked = false});
}
