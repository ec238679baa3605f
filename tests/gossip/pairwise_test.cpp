// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/gossip/pairwise.hpp"

#include "chorus/collective/barrier.hpp"
#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/given_graph.hpp"
#include "chorus/topo/one_peer_exponential.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/gossip_ranks.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::progress;
using chorus::rank_id;
using chorus::gossip::askers;
using chorus::gossip::pair_rule;
using chorus::gossip::pairwise;
using chorus::gossip::pairwise_options;
using chorus::topo::any_graph;
namespace topo = chorus::topo;
using namespace std::chrono_literals;

namespace {

using pair_ranks = suites::gossip_ranks<pairwise>;

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };

pair_ranks ranks_on(any_graph const& graph, rank_id p, std::size_t count, pairwise_options options, chorus::simulated_options const& how = {.delay = 20}) {
    options.is_checked = false;  // the ranks are in one thread
    return {p, count, [&](auto& world, auto& values, rank_id) { return pairwise{world, values, options, graph}; }, how};
}

/// Every rank asks `questions` times and finishes, in an order drawn from the seed; `after(rank, n)` follows the n-th question's post, before its answer.
progress run(pair_ranks& ranks, int questions, std::uint64_t seed, std::function<void(rank_id, int)> const& after = {}) {
    std::vector<int> asked(ranks.size());
    std::vector<std::function<progress()>> going;
    for (rank_id r = 0; r < ranks.size(); ++r)
        going.push_back([&, r] {
            if (ranks.network.is_crashed(r)) return progress::done;
            auto& mine = ranks.methods[r];
            if (progress const now = mine.advance(); now != progress::done) return now == progress::failed ? now : progress::idle;
            if (asked[r] < questions) {
                ++asked[r];
                mine.ask();
                if (after) after(r, asked[r]);
                return progress::moved;
            }
            return mine.finish_for(0s) ? progress::done : progress::idle;
        });
    return chorus::run_all(std::span{going}, {.seed = seed, .idle_rounds = 20000});
}

std::vector<double> sum_of(pair_ranks const& ranks) {
    std::vector<double> sum(ranks.values[0].size());
    for (auto const& mine : ranks.values)
        for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += mine[i];
    return sum;
}

}  // namespace

TEST_CASE("GOS-3: at every number of ranks, whoever asks whom, in any order of events, all come to an end, and pairs keep the sum to the bit") {
    for (rank_id p = 1; p <= 17; ++p)
        for (askers who : {askers::even_ranks, askers::all})
            for (bool rendezvous : {false, true})
                for (std::uint64_t seed : {1u, 2u, 3u}) {
                    CAPTURE(p);
                    CAPTURE(static_cast<int>(who));
                    CAPTURE(rendezvous);
                    CAPTURE(seed);
                    auto ranks = ranks_on(topo::full{}, p, 3, {.who = who, .seed = seed}, {.seed = seed, .delay = 20, .rendezvous = rendezvous});
                    auto const sum = sum_of(ranks);
                    double const before = ranks.distance(ranks.mean());
                    REQUIRE(run(ranks, 2, seed) == progress::done);
                    CHECK(sum_of(ranks) == sum);
                    if (p > 1 && ranks.methods[0].counts().met > 0) CHECK(ranks.distance(ranks.mean()) < before);
                    std::uint64_t met = 0, answered = 0, refused = 0, asked = 0;
                    for (auto const& mine : ranks.methods) {
                        asked += mine.counts().asked;
                        met += mine.counts().met;
                        refused += mine.counts().refused;
                        answered += mine.counts().answered;
                    }
                    CHECK(asked == met + refused);
                    CHECK(answered <= met);
                    if (who == askers::even_ranks) CHECK(refused == 0);
                    if (who == askers::even_ranks) CHECK(asked == 2 * (p == 1 ? 0 : (p + 1) / 2));
                    CHECK((asked == 0) == (p == 1));
                }
}

TEST_CASE("the distance from the mean falls as meetings go on, on every graph in which they lead everywhere") {
    for (any_graph const& graph : {any_graph{topo::full{}}, any_graph{topo::ring_graph{}}})
        for (askers who : {askers::even_ranks, askers::all})
            for (rank_id p : {2u, 3u, 6u, 9u, 16u}) {
                CAPTURE(graph.describe());
                CAPTURE(p);
                auto ranks = ranks_on(graph, p, 4, {.who = who});
                auto const mean = ranks.mean();
                double const start = ranks.distance(mean);
                REQUIRE(run(ranks, 60, 5) == progress::done);
                CHECK(suites::difference(ranks.mean(), mean) < 1e-9);
                CHECK(ranks.distance(mean) < 0.3 * start);
            }
}

TEST_CASE("what is added to the values while a question is open is kept") {
    auto ranks = ranks_on(topo::full{}, 8, 3, {});
    auto const sum = sum_of(ranks);
    int added = 0;
    REQUIRE(run(ranks, 3, 4, [&](rank_id r, int) {
        ranks.values[r][1] += 8.0;
        ++added;
    }) == progress::done);
    CHECK(sum_of(ranks)[0] == sum[0]);
    CHECK(sum_of(ranks)[1] == sum[1] + 8.0 * added);
}

TEST_CASE("pull takes half and leaves the other as it is; push gives, and takes nothing") {
    auto pulling = ranks_on(topo::full{}, 2, 1, {.rule = pair_rule::pull});
    pulling.values[0][0] = 4.0;
    pulling.values[1][0] = 8.0;
    REQUIRE(run(pulling, 2, 1) == progress::done);
    CHECK(pulling.values[0][0] == 7.0);
    CHECK(pulling.values[1][0] == 8.0);
    CHECK(pulling.methods[0].counts().bytes_sent == 0);
    CHECK(pulling.methods[1].counts().bytes_sent == 16);
    auto pushing = ranks_on(topo::full{}, 2, 1, {.rule = pair_rule::push});
    pushing.values[0][0] = 4.0;
    pushing.values[1][0] = 8.0;
    REQUIRE(run(pushing, 1, 1) == progress::done);
    CHECK(pushing.values[0][0] == 4.0);
    CHECK(pushing.values[1][0] == 6.0);
    CHECK(pushing.methods[1].counts().bytes_sent == 0);
}

TEST_CASE("push and pull end at every number of ranks, stay between the extremes, and draw the ranks together") {
    for (pair_rule rule : {pair_rule::push, pair_rule::pull})
        for (rank_id p = 1; p <= 17; ++p)
            for (std::uint64_t seed : {1u, 2u}) {
                CAPTURE(p);
                auto ranks = ranks_on(topo::full{}, p, 2, {.rule = rule, .who = askers::all, .seed = seed}, {.seed = seed, .delay = 20, .rendezvous = seed == 2});
                auto low = ranks.values[0], high = low;
                for (auto const& mine : ranks.values)
                    for (std::size_t i = 0; i < 2; ++i) {
                        low[i] = std::fmin(low[i], mine[i]);
                        high[i] = std::fmax(high[i], mine[i]);
                    }
                double const before = ranks.distance(ranks.mean());
                REQUIRE(run(ranks, 12, seed) == progress::done);
                for (auto const& mine : ranks.values)
                    for (std::size_t i = 0; i < 2; ++i) CHECK((mine[i] >= low[i] && mine[i] <= high[i]));
                CHECK(ranks.distance(ranks.mean()) <= 0.5 * before);
            }
}

TEST_CASE("two that ask each other at once have met; three in a circle refuse one another or meet, and none waits for ever") {
    auto two = ranks_on(topo::full{}, 2, 1, {.who = askers::all});
    double const mean = two.mean()[0];
    two.methods[0].ask(1);
    two.methods[1].ask(0);
    REQUIRE(run(two, 0, 1) == progress::done);
    CHECK(two.values[0][0] == mean);
    CHECK(two.values[1][0] == mean);
    for (auto const& mine : two.methods) {
        CHECK(mine.counts().met == 1);
        CHECK(mine.counts().answered == 0);
    }
    for (std::uint64_t seed = 1; seed < 20; ++seed) {
        auto three = ranks_on(topo::full{}, 3, 1, {.who = askers::all}, {.seed = seed, .delay = 20});
        auto const sum = sum_of(three);
        for (rank_id r = 0; r < 3; ++r) three.methods[r].ask((r + 1) % 3);
        REQUIRE(run(three, 0, seed) == progress::done);
        CHECK(sum_of(three) == sum);
        for (auto const& mine : three.methods) CHECK(mine.counts().met + mine.counts().refused == 1);
    }
}

TEST_CASE("a partner that is lost is skipped, wherever it stops, and the others come to an end") {
    for (rank_id lost : {0u, 1u, 4u})
        for (std::uint64_t posts = 0; posts < 40; posts += 3)
            for (bool rendezvous : {false, true}) {
                CAPTURE(lost);
                CAPTURE(posts);
                auto ranks = ranks_on(topo::full{}, 5, 3, {.who = lost == 4 ? askers::all : askers::even_ranks}, {.seed = posts + 1, .delay = 20, .rendezvous = rendezvous});
                ranks.network.crash_after(lost, posts);
                REQUIRE(run(ranks, 6, posts + 1) == progress::done);
                for (rank_id r = 0; r < 5; ++r)
                    if (r != lost) CHECK(ranks.methods[r].finish_for(0s));
            }
}

TEST_CASE("GOS-1: one rank has nobody to ask, and keeps its value") {
    auto ranks = ranks_on(topo::full{}, 1, 4, {.who = askers::all});
    auto const before = ranks.values[0];
    CHECK_FALSE(ranks.methods[0].ask());
    CHECK(ranks.methods[0].advance() == progress::done);
    ranks.methods[0].wait();
    ranks.methods[0].finish();
    CHECK(ranks.values[0] == before);
    CHECK(ranks.methods[0].counts() == chorus::gossip::pair_counts{});
}

TEST_CASE("whoever waits for something else of the group answers as well: the values change in its own calls alone") {
    suites::watchdog const guard{60};
    for (std::size_t count : {std::size_t{1}, std::size_t{50000}})
        suites::hold("helping", threads, 2, [count](auto& rank) {
            auto world = group{rank.net()}.within(20s);
            std::vector<float> values(count, rank.me() == 0 ? 1.0F : 5.0F);
            pairwise pairs{world, values};
            rank.check(pairs.ask() == (rank.me() == 0), "asks, or does not");
            if (rank.me() == 0) pairs.wait();  // the other one is in the barrier
            chorus::barrier(world);
            if (rank.me() == 1) rank.check(values[0] == 5.0F && values[count - 1] == 5.0F, "changed outside its calls");
            pairs.advance();
            rank.check(values[0] == 3.0F && values[count - 1] == 3.0F, "not the mean");
            pairs.finish();
            rank.check(pairs.disagreement() == 0.0, "apart");
        });
}

TEST_CASE("ranks of different speeds, as threads: asking, learning, waiting, ending") {
    suites::watchdog const guard{60};
    for (askers who : {askers::even_ranks, askers::all})
        suites::hold("threads", threads, 5, [who](auto& rank) {
            auto world = group{rank.net()}.within(20s);
            std::vector<double> values(20000, 64.0 * rank.me());
            pairwise pairs{world, values, {.who = who}};
            for (rank_id n = 0; n < 3 + 2 * rank.me(); ++n) {
                pairs.ask();
                pairs.wait();
            }
            pairs.finish();
            std::vector<double> sum = values;
            chorus::all_reduce(world, sum, chorus::sum{});
            for (double const s : sum) rank.check(std::fabs(s - 640.0) < 1e-9, "the sum is not kept");
            rank.check(pairs.disagreement() < std::sqrt(20000.0) * 128.0, "not nearer to one another");
        });
}

TEST_CASE("a rank that ends without finishing counts as lost, and stops nobody") {
    suites::watchdog const guard{60};
    suites::hold("ending", threads, 4, [](auto& rank) {
        auto world = group{rank.net()}.within(20s);
        std::vector<float> values(3000, static_cast<float>(rank.me()));
        pairwise pairs{world, values, {.who = askers::all}};
        for (int n = 0; n < (rank.me() == 2 ? 2 : 50); ++n) {
            pairs.ask();
            pairs.wait();
        }
        if (rank.me() == 2) return;
        pairs.finish();
        rank.check(values[0] >= 0.0F && values[0] <= 3.0F, "no mean");
    });
}

TEST_CASE("a partner that does not call is named in time, and the question stays open") {
    suites::watchdog const guard{60};
    suites::hold("late", threads, 2, [](auto& rank) {
        auto world = group{rank.net()}.within(300ms);
        std::vector<double> values(50, rank.me());
        pairwise pairs{world, values};
        rank.meet();
        if (rank.me() == 0) {
            pairs.ask();
            suites::expect_error(rank, errc::timed_out, {"pairwise on rank 0", "no answer of rank 1", "300"}, [&] { pairs.wait(); });
            rank.check(values[0] == 0.0, "changed");
            suites::expect_error(rank, errc::timed_out, {"pairwise on rank 0"}, [&] { pairs.finish(); });
            rank.meet();
            rank.check(pairs.finish_for(20s), "not over");
        } else {
            rank.meet();
            rank.check(pairs.finish_for(20s), "not over");
        }
        rank.check(values[0] == 0.5, "not the mean");
    });
}

TEST_CASE("GOS-6, GOS-10: ranks that were given different rules, graphs that lead nowhere or name who does not exist: an error on all, and the next one works") {
    suites::watchdog const guard{60};
    suites::hold("refused", threads, 4, [](auto& rank) {
        auto world = group{rank.net()}.within(20s);
        std::vector<double> values(3, rank.me());
        using topo::given_graph;
        suites::expect_error(rank, errc::mismatch, {"pairwise"}, [&] { pairwise{world, values, {.rule = rank.me() == 1 ? pair_rule::push : pair_rule::both}}; });
        suites::expect_error(rank, errc::invalid_argument, {"no meetings lead from rank 0 to rank 2"}, [&] { pairwise{world, values, {.who = askers::all}, given_graph{{{1}, {0}, {3}, {2}}}}; });
        suites::expect_error(rank, errc::invalid_argument, {"no meetings", "even ranks ask odd ones"}, [&] { pairwise{world, values, {}, given_graph{{{2}, {3}, {0}, {1}}}}; });
        suites::expect_error(rank, errc::invalid_argument, {"rank 9"}, [&] { pairwise{world, values, {.who = askers::all}, given_graph{{{9}, {0}, {1}, {2}}}}; });
        suites::expect_error(rank, errc::invalid_argument, {"one_peer_exponential", "there are no steps"}, [&] { pairwise{world, values, {}, topo::one_peer_exponential{}}; });
        rank.check(values[0] == rank.me(), "values changed");
        pairwise pairs{world, values};
        if (rank.me() == 0) {
            suites::expect_error(rank, errc::invalid_argument, {"asks rank 2", "no partner"}, [&] { pairs.ask(2); });
            pairs.ask(1);
            suites::expect_error(rank, errc::invalid_argument, {"question to rank 1", "open"}, [&] { pairs.ask(3); });
        }
        pairs.finish();
        suites::expect_error(rank, errc::invalid_argument, {"after it was finished"}, [&] { pairs.ask(); });
        rank.check(values[2] == (rank.me() < 2 ? 0.5 : rank.me()), "the next one is spoilt");
    });
}
