// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/gossip/dcd.hpp"

#include "chorus/compress/block_integer.hpp"
#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/qsgd.hpp"
#include "chorus/compress/sign_bit.hpp"
#include "chorus/compress/ternary.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "chorus/gossip/choco.hpp"
#include "chorus/gossip/mixer.hpp"
#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/exponential.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/one_peer_exponential.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "suites/expected_error.hpp"
#include "suites/gossip_ranks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::any_compressor;
using chorus::errc;
using chorus::group;
using chorus::progress;
using chorus::rank_id;
using chorus::step_id;
using chorus::gossip::choco;
using chorus::gossip::dcd;
using chorus::gossip::mixer;
using chorus::gossip::mixing_options;
using chorus::topo::any_graph;
using suites::alone;
namespace topo = chorus::topo;

namespace {

template <class Method> using ranks_of = suites::gossip_ranks<Method, float>;
using dcd_ranks = ranks_of<dcd>;
using vectors = std::vector<std::vector<float>>;

/// Values begin at 0.
dcd_ranks ranks_on(any_graph const& graph, rank_id p, std::size_t count, any_compressor const& code, mixing_options const& options = alone) {
    return {p, count, [&](auto& world, auto& values, rank_id) {
                std::fill(values.begin(), values.end(), 0.0F);
                return dcd{world, values, code, graph, topo::metropolis{}, options};
            }};
}
ranks_of<choco> choco_on(any_graph const& graph, rank_id p, std::size_t count, any_compressor const& code, double step) {
    return {p, count, [&](auto& world, auto& values, rank_id) {
                std::fill(values.begin(), values.end(), 0.0F);
                return choco{world, values, code, graph, step, topo::metropolis{}, alone};
            }};
}

/// What each rank would have: whole numbers that differ by rank and element.
vectors goals(rank_id p, std::size_t count) {
    chorus::counter_random const random{11};
    vectors all(p, std::vector<float>(count));
    for (rank_id r = 0; r < p; ++r)
        for (std::size_t i = 0; i < count; ++i) all[r][i] = static_cast<float>(random.below(r * count + i, 2001)) - 1000.0F;
    return all;
}
std::vector<double> mean_of(vectors const& all) {
    std::vector<double> mean(all[0].size());
    for (auto const& one : all)
        for (std::size_t i = 0; i < mean.size(); ++i) mean[i] += static_cast<double>(one[i]) / static_cast<double>(all.size());
    return mean;
}

/// Every rank goes a tenth of the way to a goal of its own at each step, before it mixes: the mean should come to the goals' mean. How far off it is.
template <class Method>
double trained(ranks_of<Method>& ranks, vectors const& goal, step_id steps) {
    for (step_id t = 0; t < steps; ++t) {
        for (rank_id r = 0; r < ranks.size(); ++r)
            for (std::size_t i = 0; i < goal[r].size(); ++i) ranks.values[r][i] -= 0.1F * (ranks.values[r][i] - goal[r][i]);
        REQUIRE(ranks.step(t) == progress::done);
    }
    double const off = suites::difference(ranks.mean(), mean_of(goal));
    return std::isnan(off) || std::isnan(ranks.distance(ranks.mean())) ? 1e30 : off;
}

}  // namespace

TEST_CASE("uncompressed it is D-PSGD that adapts while it combines, to the bit where halves are exact, at every number of ranks") {
    for (any_graph const& graph : {any_graph{topo::full{}}, any_graph{topo::exponential{}}, any_graph{topo::ring_graph{}}})
        for (rank_id p = 1; p <= 17; ++p) {
            CAPTURE(graph.describe());
            CAPTURE(p);
            auto const update = goals(p, 20);
            auto ranks = ranks_on(graph, p, 20, chorus::uncompressed{});
            ranks_of<mixer> mixed{p, 20, [&](auto& world, auto& values, rank_id) {
                                      std::fill(values.begin(), values.end(), 0.0F);
                                      return mixer{world, values, graph, topo::metropolis{}, alone};
                                  }};
            auto add = [&](auto& values, rank_id r) {
                for (std::size_t i = 0; i < 20; ++i) values[r][i] += update[r][i];
            };
            bool const is_exact = p == 2 || (p == 4 && graph.kind() == "full");
            for (step_id t = 0; t < 4; ++t) {
                for (rank_id r = 0; r < p; ++r) add(ranks.values, r);
                REQUIRE(ranks.step(t) == progress::done);
                REQUIRE(mixed.step(t, [&](rank_id r) { add(mixed.values, r); }) == progress::done);
                for (rank_id r = 0; r < p; ++r)
                    for (std::size_t i = 0; i < 20; ++i) {
                        if (is_exact) CHECK(ranks.values[r][i] == mixed.values[r][i]);
                        else CHECK(std::fabs(ranks.values[r][i] - mixed.values[r][i]) < 4e-3);  // of values up to 4000
                    }
            }
        }
}

TEST_CASE("a compressor that loses little reaches the mean of the ranks' goals, and the ranks each other") {
    for (any_compressor const& code : {any_compressor{chorus::block_integer{}}, any_compressor{chorus::qsgd{}}})
        for (rank_id p : {1u, 2u, 3u, 5u, 8u, 11u, 17u}) {
            CAPTURE(code.describe());
            CAPTURE(p);
            auto const goal = goals(p, 50);
            auto ranks = ranks_on(topo::exponential{}, p, 50, code);
            CHECK(trained(ranks, goal, 150) < 0.1);
            double const apart = ranks.distance(mean_of(goal));
            for (step_id t = 150; t < 200; ++t) REQUIRE(ranks.step(t) == progress::done);  // no more learning
            CHECK(ranks.distance(ranks.mean()) <= 1e-3 * apart + 1e-3);
        }
}

TEST_CASE("a biased compressor without feedback stalls away from the mean, where choco reaches it with the same one") {
    auto const goal = goals(8, 200);
    for (any_compressor const& code : {any_compressor{chorus::top_k{0.1}}, any_compressor{chorus::sign_bit{}}}) {
        CAPTURE(code.describe());
        auto ranks = ranks_on(topo::ring_graph{}, 8, 200, code);
        auto other = choco_on(topo::ring_graph{}, 8, 200, code, 0.2);
        double const off = trained(ranks, goal, 100);
        double const off_by_choco = trained(other, goal, 100);
        CHECK(off > 5.0);
        CHECK(off_by_choco < 0.1);
    }
}

TEST_CASE("one that stretches vectors diverges, though it is unbiased, where choco takes smaller steps") {
    auto const goal = goals(8, 200);
    auto ranks = ranks_on(topo::ring_graph{}, 8, 200, chorus::ternary{});
    auto other = choco_on(topo::ring_graph{}, 8, 200, chorus::ternary{}, 0.1);
    CHECK(trained(ranks, goal, 200) > 1e4);
    CHECK(trained(other, goal, 200) < 0.1);
}

TEST_CASE("with error feedback nothing is lost: values and residuals together keep the mean, and signs learn") {
    auto const goal = goals(8, 200);
    auto plain = ranks_on(topo::ring_graph{}, 8, 200, chorus::sign_bit{});
    auto ranks = ranks_on(topo::ring_graph{}, 8, 200, chorus::error_feedback{chorus::sign_bit{}});
    double const off = trained(ranks, goal, 200);
    CHECK(off < 0.1);
    CHECK(trained(plain, goal, 200) > 10.0 * off);
}

TEST_CASE("all know one another's values: a step later, nobody having learnt, a rank's values are the mix of what the others have") {
    auto ranks = ranks_on(topo::full{}, 4, 30, chorus::top_k{0.2});
    auto const goal = goals(4, 30);
    trained(ranks, goal, 20);
    auto const mean = ranks.mean();
    // The mix of all is the mean: with a lossless step the differences would vanish at once, here a fifth of them does.
    auto const before = ranks.values;
    REQUIRE(ranks.step(20) == progress::done);
    for (rank_id r = 0; r < 4; ++r) {
        int moved = 0;
        for (std::size_t i = 0; i < 30; ++i) {
            if (ranks.values[r][i] == before[r][i]) continue;
            ++moved;
            CHECK(static_cast<double>(ranks.values[r][i]) == doctest::Approx(mean[i]).epsilon(1e-4).scale(1.0));
        }
        CHECK(moved <= 6);
        CHECK(moved > 0);
    }
}

TEST_CASE("what is added between start and the end waits for the next step; or is lost when told so") {
    for (bool keeps : {true, false}) {
        auto options = alone;
        options.keeps_progress = keeps;
        auto ranks = ranks_on(topo::ring_graph{}, 5, 9, chorus::uncompressed{}, options);
        REQUIRE(ranks.step(0, [&](rank_id r) {
            for (float& x : ranks.values[r]) x += 4.0F * static_cast<float>(r);
        }) == progress::done);
        for (rank_id r = 0; r < 5; ++r) CHECK(ranks.values[r][0] == (keeps ? 4.0F * static_cast<float>(r) : 0.0F));
        for (step_id t = 1; t < 60; ++t) REQUIRE(ranks.step(t) == progress::done);
        for (rank_id r = 0; r < 5; ++r) CHECK(std::fabs(ranks.values[r][0] - (keeps ? 8.0F : 0.0F)) < 1e-3F);
    }
}

TEST_CASE("GOS-1: one rank keeps its own value, as far as its compressor lets it") {
    auto ranks = ranks_on(topo::ring_graph{}, 1, 9, chorus::block_integer{});
    for (step_id t = 0; t < 3; ++t) REQUIRE(ranks.step(t) == progress::done);
    CHECK(ranks.values[0] == std::vector<float>(9));
    for (float& x : ranks.values[0]) x += 1.0F;
    for (step_id t = 3; t < 6; ++t) REQUIRE(ranks.step(t) == progress::done);
    for (float const x : ranks.values[0]) CHECK(std::fabs(x - 1.0F) < 1e-4F);
}

TEST_CASE("graphs that change, skipping, and ranks that begin with different values are refused, and it is said why") {
    chorus::simulated_network network{4};
    group world{network.endpoint(0)};
    std::vector<float> values(10);
    any_compressor const code = chorus::block_integer{};
    auto refused = [&](std::initializer_list<std::string_view> words, any_graph const& graph, mixing_options const& options) {
        CHECK(suites::unlike(errc::invalid_argument, words, [&] { dcd{world, values, code, graph, topo::metropolis{}, options}; }) == "");
    };
    refused({"dcd over", "expected a graph of period 1"}, topo::one_peer_exponential{}, alone);
    auto skipping = alone;
    skipping.late = chorus::gossip::when_late::skip;
    refused({"dcd", "none can be skipped"}, topo::ring_graph{}, skipping);
    using method = chorus::gossip::detail::dcd_mixing<float>;
    std::vector<float> others(10);
    CHECK(method{values, code, 0, true}.digest() == method{others, code, 1, true}.digest());
    others[3] = 0.5F;
    CHECK(method{values, code, 0, true}.digest() != method{others, code, 1, true}.digest());
}
