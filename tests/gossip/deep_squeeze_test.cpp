// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/gossip/deep_squeeze.hpp"

#include "chorus/compress/block_integer.hpp"
#include "chorus/compress/sign_bit.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "chorus/gossip/mixer.hpp"
#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/one_peer_exponential.hpp"
#include "chorus/topo/random_matching.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "suites/expected_error.hpp"
#include "suites/gossip_ranks.hpp"

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
using chorus::gossip::deep_squeeze;
using chorus::gossip::mixer;
using chorus::gossip::mixing_options;
using chorus::gossip::when_late;
using chorus::topo::any_graph;
using suites::alone;
using suites::run;
namespace topo = chorus::topo;

namespace {

using squeezing_ranks = suites::gossip_ranks<deep_squeeze, float>;
using squeezing = chorus::gossip::detail::deep_squeeze_mixing<float>;

squeezing_ranks ranks_on(any_graph const& graph, rank_id p, std::size_t count, any_compressor const& code, double step, mixing_options const& options = alone) {
    return {p, count, [&](auto& world, auto& values, rank_id) { return deep_squeeze{world, values, code, graph, step, topo::metropolis{}, options}; }};
}

std::vector<any_compressor> const& codes() {
    static std::vector<any_compressor> const all{chorus::top_k{0.1}, chorus::sign_bit{}, chorus::block_integer{}};
    return all;
}

}  // namespace

TEST_CASE("uncompressed and with a step of 1 it is D-PSGD, but for a rounding of the values; to the bit where halves are exact") {
    for (any_graph const& graph : {any_graph{topo::full{}}, any_graph{topo::one_peer_exponential{}}, any_graph{topo::random_matching{.seed = 2}}})
        for (rank_id p = 1; p <= 17; ++p) {
            CAPTURE(graph.describe());
            CAPTURE(p);
            auto ranks = ranks_on(graph, p, 20, chorus::uncompressed{}, 1.0);
            suites::gossip_ranks<mixer, float> mixed{p, 20, [&](auto& world, auto& values, rank_id) { return mixer{world, values, graph, topo::metropolis{}, alone}; }};
            for (step_id t = 0; t < 6; ++t) {
                REQUIRE(ranks.step(t) == progress::done);
                REQUIRE(mixed.step(t) == progress::done);
                for (rank_id r = 0; r < p; ++r)
                    for (std::size_t i = 0; i < 20; ++i) {
                        if (p == 2 || p == 4) CHECK(ranks.values[r][i] == mixed.values[r][i]);
                        else CHECK(std::fabs(ranks.values[r][i] - mixed.values[r][i]) < 1e-3);  // of values up to 1000
                    }
            }
        }
}

TEST_CASE("the mean is kept through any compressor, at every number of ranks, on graphs with a period and without") {
    for (any_compressor const& code : codes())
        for (any_graph const& graph : {any_graph{topo::ring_graph{}}, any_graph{topo::one_peer_exponential{}}, any_graph{topo::random_matching{.seed = 7}}})
            for (rank_id p = 1; p <= 17; ++p) {
                CAPTURE(code.describe());
                CAPTURE(graph.describe());
                CAPTURE(p);
                auto ranks = ranks_on(graph, p, 33, code, 0.1);
                auto const mean = ranks.mean();
                run(ranks, 0, 30);
                CHECK(suites::difference(ranks.mean(), mean) < 5e-3);  // roundings of values and residuals of some thousands
            }
}

TEST_CASE("the distance falls to a floor that the consensus step sets: half the step, about half the floor") {
    for (any_compressor const& code : codes()) {
        CAPTURE(code.describe());
        double floor = 1.0;
        for (double step : {0.4, 0.2, 0.1}) {
            auto ranks = ranks_on(topo::ring_graph{}, 8, 200, code, step);
            auto const mean = ranks.mean();
            double const start = ranks.distance(mean);
            run(ranks, 0, 400);
            double const now = ranks.distance(mean) / start;
            CHECK(now < 0.75 * floor);
            floor = now;
        }
        CHECK(floor < 0.12);
    }
}

TEST_CASE("around a mean of 0 there is no floor: the distance falls geometrically") {
    for (any_compressor const& code : codes()) {
        CAPTURE(code.describe());
        auto ranks = ranks_on(topo::ring_graph{}, 6, 200, code, 0.1);
        for (rank_id r = 0; r < 3; ++r)
            for (std::size_t i = 0; i < 200; ++i) ranks.values[r + 3][i] = -ranks.values[r][i];
        std::vector<double> const zero(200);
        double const start = ranks.distance(zero);
        double before = start;
        for (step_id t = 0; t < 300; t += 100) {
            run(ranks, t, t + 100);
            CHECK(ranks.distance(zero) < 0.5 * before);
            before = ranks.distance(zero);
        }
        CHECK(before < 0.05 * start);
    }
}

TEST_CASE("EFB-2: sent + residual = values + residual before, in every message") {
    for (any_compressor const& code : codes()) {
        CAPTURE(code.describe());
        std::vector<float> values(100);
        chorus::counter_random const random{3};
        squeezing mine{values, code, 0, 0.5, true};
        std::vector<std::byte> payload(mine.payload_bytes());
        std::vector<double> given(100), sent(100);
        std::vector<float> decoded(100);
        chorus::error_feedback<any_compressor> twin{code};
        std::vector<std::byte> expected(payload.size());
        for (std::uint64_t t = 0; t < 50; ++t) {
            for (std::size_t i = 0; i < 100; ++i) values[i] = static_cast<float>(random.unit(100 * t + i) * 8.0 - 3.0);
            std::size_t const used = mine.pack(payload);
            REQUIRE(used == twin.encode(values, expected));
            code.decode(std::span{payload}.first(used), decoded);
            for (std::size_t i = 0; i < 100; ++i) {
                given[i] += static_cast<double>(values[i]);
                sent[i] += static_cast<double>(decoded[i]);
                CHECK(sent[i] + static_cast<double>(twin.residual()[i]) == doctest::Approx(given[i]).epsilon(1e-5).scale(10.0));
            }
        }
    }
}

TEST_CASE("without feedback the mean would be kept as well, but the sum of what was sent is not the sum of the values: a test of the test") {
    chorus::top_k code{0.1};
    std::vector<float> const values{8.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F};
    auto sent_of = [&](auto compressor) {
        std::vector<std::byte> wire(compressor.max_wire_bytes(10));
        std::vector<float> sum(10);
        for (int t = 0; t < 100; ++t) compressor.decode_add(std::span{wire}.first(compressor.encode(values, wire)), sum);
        return sum;
    };
    CHECK(sent_of(code)[9] == 0.0F);
    CHECK(sent_of(chorus::error_feedback{code})[9] > 80.0F);
}

TEST_CASE("a neighbour that is lost is skipped: the others go on, and draw nearer to one another") {
    auto options = alone;
    options.late = when_late::skip;
    auto ranks = ranks_on(topo::full{}, 5, 40, chorus::block_integer{}, 0.5, options);
    run(ranks, 0, 3);
    ranks.network.crash(2);
    run(ranks, 3, 60);
    for (rank_id r : {0u, 1u, 3u, 4u}) CHECK(ranks.methods[r].counts().skipped >= 50);
    for (std::size_t i = 0; i < 40; ++i) CHECK(std::fabs(ranks.values[0][i] - ranks.values[4][i]) < 20.0F);  // of values up to 1000
}

TEST_CASE("GOS-1: one rank keeps its own value; GOS-3: and so does who has no partner") {
    for (any_compressor const& code : codes())
        for (rank_id p : {1u, 3u, 5u, 7u, 9u}) {
            topo::random_matching const graph{.seed = 5};
            auto ranks = ranks_on(graph, p, 9, code, 0.5);
            for (step_id t = 0; t < 8; ++t) {
                auto const before = ranks.values;
                REQUIRE(ranks.step(t) == progress::done);
                for (rank_id r = 0; r < p; ++r)
                    if (graph.at(t, r, p).from.empty()) CHECK(ranks.values[r] == before[r]);
            }
        }
}

TEST_CASE("what is added between start and the end is kept; or is lost when told so") {
    suites::check_progress_kept([](mixing_options const& options) { return ranks_on(topo::ring_graph{}, 5, 9, chorus::top_k{0.3}, 0.5, options); });
}

TEST_CASE("a compressor with a residual of its own is refused, as are steps out of range") {
    chorus::simulated_network network{1};
    group world{network.endpoint(0)};
    std::vector<float> values(10);
    any_graph const ring{topo::ring_graph{}};
    CHECK(suites::unlike(errc::invalid_argument, {"deep_squeeze", "error_feedback", "expected the compressor inside"},
                         [&] { deep_squeeze{world, values, chorus::error_feedback{chorus::top_k{}}, ring, 0.5}; }) == "");
    for (double step : {0.0, 1.5, std::nan("")})
        CHECK(suites::unlike(errc::invalid_argument, {"deep_squeeze", "consensus step"}, [&] { deep_squeeze{world, values, chorus::top_k{}, ring, step}; }) == "");
}
