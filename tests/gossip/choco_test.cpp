// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/gossip/choco.hpp"

#include "chorus/compress/block_integer.hpp"
#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/qsgd.hpp"
#include "chorus/compress/random_k.hpp"
#include "chorus/compress/sign_bit.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "chorus/gossip/mixer.hpp"
#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/exponential.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/given_graph.hpp"
#include "chorus/topo/mixing.hpp"
#include "chorus/topo/one_peer_exponential.hpp"
#include "chorus/topo/random_matching.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "chorus/topo/star.hpp"
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
using chorus::gossip::mixer;
using chorus::gossip::mixing_options;
using chorus::topo::any_graph;
using suites::alone;
using suites::run;
namespace topo = chorus::topo;

namespace {

using choco_ranks = suites::gossip_ranks<choco, float>;

choco_ranks ranks_on(any_graph const& graph, rank_id p, std::size_t count, any_compressor const& code, double step, mixing_options const& options = alone) {
    return {p, count, [&](auto& world, auto& values, rank_id) { return choco{world, values, code, graph, step, topo::metropolis{}, options}; }};
}

struct coding {
    any_compressor code;
    double step;
};

std::vector<coding> const& codings() {
    static std::vector<coding> const all{{chorus::top_k{0.1}, 0.1}, {chorus::sign_bit{}, 0.1}, {chorus::block_integer{}, 0.9}, {chorus::random_k{0.1}, 0.05}};
    return all;
}

}  // namespace

TEST_CASE("uncompressed and with a step of 1 it is D-PSGD: the mixer's bits where differences are exact, else within a rounding of the values") {
    for (any_graph const& graph : {any_graph{topo::full{}}, any_graph{topo::one_peer_exponential{}}, any_graph{topo::ring_graph{}}})
        for (rank_id p = 1; p <= 17; ++p) {
            CAPTURE(graph.describe());
            CAPTURE(p);
            auto ranks = ranks_on(graph, p, 40, chorus::uncompressed{}, 1.0);
            suites::gossip_ranks<mixer, float> mixed{p, 40, [&](auto& world, auto& values, rank_id) { return mixer{world, values, graph, topo::metropolis{}, alone}; }};
            bool const is_exact = (p == 2 || p == 4) && std::string_view{graph.kind()} != "ring_graph";
            for (step_id t = 0; t < 6; ++t) {
                REQUIRE(ranks.step(t) == progress::done);
                REQUIRE(mixed.step(t) == progress::done);
                for (rank_id r = 0; r < p; ++r)
                    for (std::size_t i = 0; i < 40; ++i) {
                        if (is_exact) CHECK(ranks.values[r][i] == mixed.values[r][i]);
                        else CHECK(std::fabs(ranks.values[r][i] - mixed.values[r][i]) < 1e-3);  // of values up to 1000
                    }
            }
        }
}

TEST_CASE("the mean is kept through any compressor at every number of ranks, and the distance from it falls") {
    for (coding const& coded : codings())
        for (rank_id p = 1; p <= 17; ++p) {
            CAPTURE(coded.code.describe());
            CAPTURE(p);
            auto ranks = ranks_on(topo::exponential{}, p, 64, coded.code, coded.step);
            auto const mean = ranks.mean();
            double const before = ranks.distance(mean);
            run(ranks, 0, 100);
            CHECK(suites::difference(ranks.mean(), mean) < 4e-3);  // roundings of values up to 1000, 100 times
            CHECK(ranks.distance(mean) <= 0.5 * before);
        }
}

TEST_CASE("the distance falls geometrically, down to the roundings of the values, where the compressor is a contraction") {
    for (std::size_t c : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
        coding const& coded = codings()[c];
        CAPTURE(coded.code.describe());
        auto ranks = ranks_on(topo::ring_graph{}, 8, 200, coded.code, coded.step);
        auto const mean = ranks.mean();
        double const start = ranks.distance(mean);
        double before = start;
        for (step_id t = 0; t < 400 && before > 1e-5 * start; t += 80) {
            run(ranks, t, t + 80);
            double const now = ranks.distance(mean);
            CHECK(now < 0.6 * before);
            before = now;
        }
        CHECK(before < 1e-2 * start);
    }
}

TEST_CASE("too large a step diverges, a smaller one does not: what a compressor loses must be paid for") {
    auto wild = ranks_on(topo::ring_graph{}, 8, 200, chorus::top_k{0.1}, 1.0);
    auto tame = ranks_on(topo::ring_graph{}, 8, 200, chorus::top_k{0.1}, 0.2);
    auto const mean = wild.mean();
    double const start = wild.distance(mean);
    run(wild, 0, 200);
    run(tame, 0, 200);
    CHECK(wild.distance(mean) > start);
    CHECK(tame.distance(mean) < 0.01 * start);
    CHECK(suites::difference(tame.mean(), mean) < 4e-3);
}

TEST_CASE("the promised step is above 0 and below 1, grows with the gap and the contraction, and never lets the distance rise for long") {
    double last = 0.0;
    for (double contraction : {0.01, 0.1, 0.5, 1.0}) {
        double const step = chorus::gossip::promised_consensus_step(0.5, contraction);
        CHECK(step > last);
        CHECK(step < 1.0);
        CHECK(step > chorus::gossip::promised_consensus_step(0.25, contraction));
        last = step;
    }
    topo::ring_graph const ring;
    double const gap = topo::spectral_gap(topo::graph_matrix(ring, topo::metropolis{}, 0, 4));
    chorus::top_k const code{0.1};
    auto ranks = ranks_on(ring, 4, 100, code, chorus::gossip::promised_consensus_step(gap, code.promise(100).contraction));
    auto const mean = ranks.mean();
    double before = ranks.distance(mean);
    for (step_id t = 0; t < 1000; t += 250) {
        run(ranks, t, t + 250);
        CHECK(ranks.distance(mean) < before);
        before = ranks.distance(mean);
    }
}

TEST_CASE("what is added between start and the end is kept; or is lost when told so") {
    suites::check_progress_kept([](mixing_options const& options) { return ranks_on(topo::ring_graph{}, 5, 9, chorus::top_k{0.3}, 0.5, options); });
}

TEST_CASE("a graph that changes with time: messages go to all neighbours of its period, and the mean is reached") {
    for (rank_id p : {2u, 5u, 6u, 8u}) {
        CAPTURE(p);
        auto ranks = ranks_on(topo::one_peer_exponential{}, p, 64, chorus::top_k{0.1}, 0.1);
        auto const mean = ranks.mean();
        double const before = ranks.distance(mean);
        run(ranks, 0, 300);
        CHECK(suites::difference(ranks.mean(), mean) < 1e-2);
        CHECK(ranks.distance(mean) < 1e-3 * before);
        CHECK(ranks.methods[0].counts().messages == 300 * topo::exponential{}.at(0, 0, p).to.size());
    }
}

TEST_CASE("GOS-1: one rank keeps its own value") {
    for (coding const& coded : codings()) {
        auto ranks = ranks_on(topo::ring_graph{}, 1, 9, coded.code, coded.step);
        auto const before = ranks.values[0];
        run(ranks, 0, 3);
        CHECK(ranks.values[0] == before);
    }
}

TEST_CASE("GOS-8: a line of five keeps the mean in every round, and its spread falls below 1e-6, in bytes instead of floats") {
    topo::given_graph const line{{{1}, {0, 2}, {1, 3}, {2, 4}, {3}}};
    suites::gossip_ranks<choco, double> ranks{5, 1, [&](auto& world, auto& values, rank_id) { return choco{world, values, chorus::block_integer{}, any_graph{line}, 1.0, topo::metropolis{}, alone}; }};
    for (rank_id r = 0; r < 5; ++r) ranks.values[r][0] = r;
    for (step_id t = 0; t < 400; ++t) {
        REQUIRE(ranks.step(t) == progress::done);
        CHECK(std::fabs(ranks.mean()[0] - 2.0) < 1e-12);
    }
    auto const [low, high] = std::minmax_element(ranks.values.begin(), ranks.values.end());
    CHECK((*high)[0] - (*low)[0] < 1e-6);
}

TEST_CASE("CMP-3: what is sent has the length of the compressed message") {
    for (coding const& coded : codings()) {
        CAPTURE(coded.code.describe());
        auto ranks = ranks_on(topo::ring_graph{}, 3, 10000, coded.code, coded.step);
        run(ranks, 0, 2);
        CHECK(ranks.methods[0].counts().messages == 4);
        CHECK(ranks.methods[0].counts().bytes_sent <= 4 * coded.code.max_wire_bytes(10000));
        CHECK(ranks.methods[0].counts().bytes_sent < 4 * 4 * 10000 / 3);
    }
}

TEST_CASE("double and half reach their mean as well, to their own roundings") {
    auto reaches = [](auto zero, double within) {
        using element = decltype(zero);
        suites::gossip_ranks<choco, element> ranks{4, 50, [](auto& world, auto& values, rank_id) { return choco{world, values, chorus::top_k{0.2}, any_graph{topo::full{}}, 0.3, topo::metropolis{}, alone}; }};
        auto const mean = ranks.mean();
        for (step_id t = 0; t < 150; ++t) REQUIRE(ranks.step(t) == progress::done);
        for (auto const& mine : ranks.values)
            for (std::size_t i = 0; i < 50; ++i) CHECK(std::fabs(static_cast<double>(static_cast<chorus::wide_t<element>>(mine[i])) - mean[i]) < within);
    };
    reaches(double{}, 1e-3);
    reaches(chorus::half{}, 20.0);
}

TEST_CASE("what cannot be right is refused, and says why") {
    chorus::simulated_network network{1};
    group world{network.endpoint(0)};
    std::vector<float> values(10);
    any_compressor const code = chorus::top_k{0.5};
    auto refused = [&](std::initializer_list<std::string_view> words, any_compressor const& by, any_graph const& graph, double step, mixing_options const& options = {}) {
        CHECK(suites::unlike(errc::invalid_argument, words, [&] { choco{world, values, by, graph, step, topo::metropolis{}, options}; }) == "");
    };
    topo::ring_graph const ring;
    CHECK(suites::unlike(errc::invalid_argument, {"random_matching", "no period", "estimates"}, [] { chorus::gossip::detail::standing_graph<topo::random_matching>{}.at(0, 0, 4); }) == "");
    refused({"choco", "builds on all before"}, code, ring, 0.5, {.late = chorus::gossip::when_late::skip});
    refused({"choco", "error_feedback{top_k}", "expected the compressor inside"}, chorus::error_feedback{chorus::top_k{}}, ring, 0.5);
    for (double step : {0.0, -1.0, 1.5, std::nan("")}) refused({"choco", "consensus step", "above 0 to 1"}, code, ring, step);
}

TEST_CASE("ranks that were given other steps or compressors are told, as all that was given is compared") {
    std::vector<float> values(10);
    auto digest = [&](any_compressor const& code, rank_id rank, double step) { return chorus::gossip::detail::choco_mixing<float>{values, code, rank, step, true}.digest(); };
    CHECK(digest(chorus::top_k{0.5}, 0, 0.5) == digest(chorus::top_k{0.5}, 1, 0.5));
    CHECK(digest(chorus::top_k{0.5}, 0, 0.5) != digest(chorus::top_k{0.5}, 0, 0.25));
    CHECK(digest(chorus::top_k{0.5}, 0, 0.5) != digest(chorus::top_k{0.25}, 0, 0.5));
    CHECK(digest(chorus::qsgd{}, 0, 0.5) == digest(chorus::qsgd{}, 1, 0.5));
}

TEST_CASE("a neighbour that is lost fails the step, and is named") {
    auto ranks = ranks_on(topo::ring_graph{}, 4, 10, chorus::top_k{0.5}, 0.5);
    run(ranks, 0, 2);
    ranks.network.crash(2);
    CHECK(ranks.step(2) == progress::failed);
    auto const why = suites::error_of([&] { ranks.methods[1].wait(); });
    REQUIRE(why);
    CHECK(why->code() == errc::peer_lost);
}
