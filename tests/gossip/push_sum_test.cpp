// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/gossip/push_sum.hpp"

#include "chorus/gossip/mixer.hpp"
#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/exponential.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/given_graph.hpp"
#include "chorus/topo/one_peer_exponential.hpp"
#include "chorus/topo/random_matching.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "chorus/topo/star.hpp"
#include "chorus/transport/simulated.hpp"
#include "suites/expected_error.hpp"
#include "suites/gossip_ranks.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::progress;
using chorus::rank_id;
using chorus::step_id;
using chorus::gossip::mixer;
using chorus::gossip::mixing_options;
using chorus::gossip::push_sum;
using chorus::gossip::when_late;
using chorus::topo::any_graph;
using chorus::topo::given_graph;
using suites::alone;
namespace topo = chorus::topo;
using namespace std::chrono_literals;

namespace {

/// `values` are the sums.
struct pushing_ranks {
    pushing_ranks(any_graph const& graph, rank_id p, std::size_t count, mixing_options const& options = alone, chorus::simulated_options const& how = {.delay = 20})
        : means(p, std::vector<double>(count)),
          ranks{p, count, [&](auto& world, auto& sums, rank_id r) { return push_sum{world, sums, means[r], graph, options}; }, how} {}

    double weights() const {
        double sum = 0.0;
        for (auto const& method : ranks.methods) sum += method.weight();
        return sum;
    }
    double farthest(std::vector<double> const& mean) const {
        double largest = 0.0;
        for (auto const& mine : means) largest = std::fmax(largest, suites::difference(mine, mean));
        return largest;
    }

    std::vector<std::vector<double>> means;
    suites::gossip_ranks<push_sum> ranks;
};

/// Rank r sends to r + 1, and even ranks to 0 as well: ranks with unlike degrees, edges that go one way.
given_graph uneven(rank_id p) {
    given_graph made;
    for (rank_id r = 0; r < p; ++r) {
        auto& to = made.sends_to.emplace_back();
        if (p > 1) to.push_back((r + 1) % p);
        if (r % 2 == 0 && r > 0 && to[0] != 0) to.insert(to.begin(), 0);
    }
    return made;
}

std::vector<any_graph> graphs_for(rank_id p) {
    return {uneven(p), topo::ring_graph{.is_directed = true}, topo::star{}, topo::exponential{}, topo::one_peer_exponential{}, topo::random_matching{.seed = 3}, topo::full{}};
}

}  // namespace

TEST_CASE("sums and weights are kept and z reaches the true mean, on every graph, directed, changing and uneven, at every number of ranks") {
    for (rank_id p = 1; p <= 17; ++p)
        for (any_graph const& graph : graphs_for(p)) {
            CAPTURE(graph.describe());
            CAPTURE(p);
            pushing_ranks push{graph, p, 3};
            auto const mean = push.ranks.mean();
            double const first = push.farthest(mean);
            for (step_id t = 0; t < 400; ++t) {
                REQUIRE(push.ranks.step(t) == progress::done);
                if (suites::difference(push.ranks.mean(), mean) > 1e-9) FAIL("step " << t << ": the sum of x changes");
                if (std::fabs(push.weights() - p) > 1e-9) FAIL("step " << t << ": the sum of w changes");
            }
            CHECK(push.farthest(mean) <= 1e-3 * first);
            for (rank_id r = 0; r < p; ++r)
                for (std::size_t i = 0; i < 3; ++i) CHECK(push.means[r][i] == push.ranks.values[r][i] / push.ranks.methods[r].weight());
        }
}

TEST_CASE("where ranks have unlike numbers of listeners, z is the mean of the values and plain mixing agrees on another") {
    rank_id const p = 7;
    pushing_ranks push{uneven(p), p, 1};
    suites::gossip_ranks<mixer> mix{p, 1, [&](auto& world, auto& values, rank_id) { return mixer{world, values, uneven(p), topo::uniform{}, alone}; }};
    for (rank_id r = 0; r < p; ++r) push.ranks.values[r][0] = mix.values[r][0] = 100.0 * r;
    for (step_id t = 0; t < 500; ++t) {
        REQUIRE(push.ranks.step(t) == progress::done);
        REQUIRE(mix.step(t) == progress::done);
    }
    CHECK(push.farthest({300.0}) < 1e-9);
    CHECK(mix.distance(mix.values[0]) < 1e-9);
    CHECK(std::fabs(mix.values[0][0] - 300.0) > 10.0);
}

TEST_CASE("one-peer exponential keeps whole numbers exact: the sums of x and w to the bit, and the exact mean after log2 p steps") {
    for (rank_id p : {1u, 2u, 4u, 8u, 16u}) {
        pushing_ranks push{topo::one_peer_exponential{}, p, 33};
        auto const mean = push.ranks.mean();
        for (step_id t = 0; (rank_id{1} << t) < p; ++t) {
            REQUIRE(push.ranks.step(t) == progress::done);
            CHECK(push.ranks.mean() == mean);
            CHECK(push.weights() == p);
        }
        if (p > 1)
            for (auto const& mine : push.means) CHECK(mine == mean);
    }
    for (rank_id p : {3u, 5u, 6u, 7u, 9u}) {  // shares are halves for these as well
        pushing_ranks push{topo::one_peer_exponential{}, p, 5};
        for (step_id t = 0; t < 12; ++t) {
            REQUIRE(push.ranks.step(t) == progress::done);
            CHECK(push.weights() == p);
        }
    }
}

TEST_CASE("where all ranks have one degree, weights stay 1 and push-sum is plain mixing, to the bit") {
    for (rank_id p : {2u, 3u, 5u, 8u, 13u})
        for (any_graph const& graph : {any_graph{topo::one_peer_exponential{}}, any_graph{topo::ring_graph{.is_directed = true}}}) {
            pushing_ranks push{graph, p, 70};
            suites::gossip_ranks<mixer> mix{p, 70, [&](auto& world, auto& values, rank_id) { return mixer{world, values, graph, topo::uniform{}, alone}; }};
            for (step_id t = 0; t < 9; ++t) {
                auto const gradient = [t](rank_id r) { return static_cast<double>(t + 1) * (r + 1) / 64; };
                REQUIRE(push.ranks.step(t, [&](rank_id r) { for (double& x : push.ranks.values[r]) x -= gradient(r); }) == progress::done);
                REQUIRE(mix.step(t, [&](rank_id r) { for (double& x : mix.values[r]) x -= gradient(r); }) == progress::done);
            }
            for (rank_id r = 0; r < p; ++r) {
                CHECK(push.ranks.values[r] == mix.values[r]);
                CHECK(push.ranks.methods[r].weight() == 1.0);
            }
        }
}

TEST_CASE("gradients taken at z and added to x: all ranks come to the minimum of the mean of their functions, where plain mixing does not") {
    rank_id const p = 7;
    pushing_ranks push{uneven(p), p, 1};
    suites::gossip_ranks<mixer> mix{p, 1, [&](auto& world, auto& values, rank_id) { return mixer{world, values, uneven(p), topo::uniform{}, alone}; }};
    for (step_id t = 0; t < 3000; ++t) {
        double const rate = 2.0 / (20.0 + static_cast<double>(t));
        for (rank_id r = 0; r < p; ++r) {  // the square of the distance from r
            push.ranks.values[r][0] -= rate * (push.means[r][0] - r);
            mix.values[r][0] -= rate * (mix.values[r][0] - r);
        }
        REQUIRE(push.ranks.step(t) == progress::done);
        REQUIRE(mix.step(t) == progress::done);
    }
    CHECK(push.farthest({3.0}) < 0.03);
    CHECK(std::fabs(mix.mean()[0] - 3.0) > 0.2);
}

TEST_CASE("GOS-1, GOS-3: who is alone or has no partner keeps sums, weight and mean") {
    for (rank_id p : {1u, 3u, 5u, 7u}) {
        pushing_ranks push{topo::random_matching{.seed = 5}, p, 3};
        for (step_id t = 0; t < 12; ++t) {
            auto const before = push.ranks.values;
            REQUIRE(push.ranks.step(t) == progress::done);
            for (rank_id r = 0; r < p; ++r)
                if (topo::random_matching{.seed = 5}.at(t, r, p).from.empty()) CHECK(push.ranks.values[r] == before[r]);
        }
    }
}

TEST_CASE("a late neighbour's share comes in later: no part of the sums is lost while nobody is") {
    for (bool rendezvous : {false, true}) {  // where messages are taken from the sender's memory, some are not sent at all
        pushing_ranks push{topo::full{}, 4, 300, {.late = when_late::skip, .late_after = 2ms, .is_checked = false}, {.delay = 20, .rendezvous = rendezvous}};
        auto const mean = push.ranks.mean();
        step_id t = 0;
        for (; t < 3; ++t) REQUIRE(push.ranks.step_of({0, 1, 2}, t) == progress::done);
        CHECK(push.weights() < 4.0);  // some is on its way to rank 3
        CHECK(push.ranks.methods[0].counts().skipped == 3);
        for (step_id own = 0; own < 3; ++own) REQUIRE(push.ranks.step_of({3}, own) == progress::done);
        for (; t < 60; ++t) REQUIRE(push.ranks.step(t) == progress::done);
        CHECK(push.weights() == doctest::Approx(4.0).epsilon(1e-12));
        CHECK(suites::difference(push.ranks.mean(), mean) < 1e-9);
        CHECK(push.farthest(mean) < 1e-9);
        for (auto const& method : push.ranks.methods) CHECK(method.counts().stale == 0);
        CHECK(push.ranks.methods[0].counts().late > 0);
        CHECK((push.ranks.methods[0].counts().unsent > 0) == rendezvous);
    }
}

TEST_CASE("after the loss of a rank the others' sums stay: shares that nobody takes are kept by their sender") {
    pushing_ranks push{topo::ring_graph{}, 5, 3, {.late = when_late::skip, .is_checked = false}};
    for (step_id t = 0; t < 3; ++t) REQUIRE(push.ranks.step(t) == progress::done);
    double const lost = push.ranks.methods[2].weight();
    push.ranks.network.crash(2);
    for (step_id t = 3; t < 200; ++t) REQUIRE(push.ranks.step(t) == progress::done);
    double const left = push.weights() - lost;
    CHECK(left > 4.9 - lost - 2.0 / 3.0);  // both neighbours may have sent it a third of theirs
    CHECK(left < 5.1 - lost);
    for (step_id t = 200; t < 300; ++t) REQUIRE(push.ranks.step(t) == progress::done);
    CHECK(push.weights() - lost == doctest::Approx(left).epsilon(1e-12));
    for (rank_id r : {0u, 1u, 3u, 4u}) {
        CHECK(push.ranks.methods[r].weight() > 0.1);
        CHECK(suites::difference(push.means[r], push.means[0]) < 1e-6);
    }
}

TEST_CASE("means must be as many as the sums, and not the same memory") {
    chorus::simulated_network network{1};
    chorus::group<chorus::simulated_transport> world{network.endpoint(0)};
    std::vector<double> x(3, 2.0), z(3), shorter(2);
    CHECK(suites::unlike(errc::invalid_argument, {"push_sum", "3 sums", "2 means"}, [&] { push_sum{world, x, shorter, topo::full{}}; }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"memory of their own"}, [&] { push_sum{world, x, x, topo::full{}}; }) == "");
    CHECK(shorter[0] == 0.0);
    CHECK(push_sum{world, x, z, topo::full{}}.weight() == 1.0);
    CHECK(z == x);
}
