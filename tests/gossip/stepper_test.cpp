// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/gossip/stepper.hpp"

#include "chorus/gossip/mixer.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/given_graph.hpp"
#include "chorus/topo/one_peer_exponential.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/counted_allocations.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;
using chorus::step_id;
using chorus::gossip::mixer;
using chorus::gossip::mixing_options;
using chorus::gossip::when_late;
using chorus::topo::given_graph;
namespace topo = chorus::topo;
using namespace std::chrono_literals;

namespace {

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };
auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };

mixing_options skipping(chorus::time_limit after = {}) { return {.late = when_late::skip, .late_after = after}; }

}  // namespace

TEST_CASE("disagreement is the largest distance from the mean, on all ranks alike, and mixing lessens it") {
    suites::watchdog const guard{60};
    for (auto const& p : {1u, 3u, 4u})
        suites::hold("disagreement", threads, p, [p](auto& rank) {
            group world{rank.net()};
            std::vector<float> values(2000, static_cast<float>(rank.me()));
            mixer mix{world, values, topo::ring_graph{}};
            double const half = (p - 1) / 2.0;
            rank.check(std::fabs(mix.disagreement() - half * std::sqrt(2000.0)) < 1e-9, "not the distance of the last rank");
            mix.run(0);
            rank.check(p == 1 || mix.disagreement() < half * std::sqrt(2000.0), "does not fall");
        });
}

TEST_CASE("after the first period nothing is allocated, whatever the length of the messages") {
    suites::watchdog const guard{60};
    for (std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{20000}}) {
        std::atomic<int> through{0};
        suites::hold("allocations", threads, 4, [&, count](auto& rank) {
            group world{rank.net()};
            std::vector<double> values(count, rank.me());
            mixer mix{world, values, topo::one_peer_exponential{}};
            step_id step = 0;
            for (; step < 8; ++step) mix.run(step);
            rank.check(values[0] == 1.5, "not the mean");
            // All ranks are counted together, so none may do anything else until all are through.
            auto wait_for_all = [&through, round = 0]() mutable {
                ++through;
                for (++round; through < 4 * round;) std::this_thread::yield();
            };
            wait_for_all();
            std::uint64_t const before = suites::allocations;
            wait_for_all();
            for (; step < 40; ++step) mix.run(step);
            wait_for_all();
            std::uint64_t const after = suites::allocations;
            wait_for_all();
            rank.check(before == after, "allocates " + std::to_string(after - before) + " times");
        });
    }
}

TEST_CASE("GOS-6: ranks that disagree about this step's neighbours: an error on all of them when it is checked, in time when it is not") {
    suites::watchdog const guard{60};
    for (bool is_checked : {true, false})
        suites::hold("disagreeing", threads, 3, [is_checked](auto& rank) {
            auto world = group{rank.net()}.within(is_checked ? 20s : 1s);
            std::vector<double> values(10, rank.me());
            auto const mine = values;
            // Rank 0 sends to rank 1, which expects something of rank 2.
            given_graph const seen = rank.me() == 1 ? given_graph{{{}, {}, {1}}} : given_graph{{{1}, {}, {}}};
            mixing_options const how{.is_checked = is_checked};
            if (is_checked) {
                suites::expect_error(rank, errc::mismatch, {"mixer", "not given the same", "graph"}, [&] { mixer{world, values, seen, topo::metropolis{}, how}; });
                mixer next{world, values, topo::full{}};
                next.run(0);
                rank.check(std::fabs(values[0] - 1.0) < 1e-12, "the next one is spoilt");
            } else {
                mixer mix{world, values, seen, topo::metropolis{}, how};
                if (rank.me() == 1) {
                    suites::expect_error(rank, errc::timed_out, {"awaits rank 2"}, [&] { mix.run(0); });
                } else {
                    auto const thrown = suites::error_of([&] {
                        for (step_id t = 0;; ++t) mix.run(t), std::this_thread::sleep_for(10ms);
                    });
                    rank.check(thrown->code() == errc::timed_out, thrown->what());
                }
                rank.check(rank.me() != 0 || values == mine, "values changed");
            }
        }, is_checked ? suites::ending::clean : suites::ending::may_abort);
}

TEST_CASE("GOS-10: lists with a rank that does not exist, the own one, or one twice: an error on all ranks, values untouched, the next one works") {
    suites::watchdog const guard{60};
    std::vector<std::vector<rank_id>> const flawed{{9}, {0}, {1, 1}};
    for (std::size_t flaw = 0; flaw < flawed.size(); ++flaw)
        for (bool by_all : {true, false})
            suites::hold("flawed", simulated, 4, [&](auto& rank) {
                group world{rank.net()};
                std::vector<double> values(3, rank.me());
                given_graph ring{{{1}, {2}, {3}, {0}}};
                given_graph seen = ring;
                if (by_all || rank.me() == 0) seen.sends_to[0] = flawed[flaw];
                auto const thrown = suites::error_of([&] { mixer{world, values, seen}; });
                rank.check(thrown && thrown->code() == (by_all || rank.me() == 0 ? errc::invalid_argument : errc::mismatch), "no error, or another");
                rank.check(values == std::vector<double>(3, rank.me()), "values changed");
                mixer next{world, values, ring};
                next.run(0);
                rank.check(values[0] == (rank.me() == 0 ? 1.5 : rank.me() - 0.5), "the next one is spoilt");
            });
}

TEST_CASE("steps are started one at a time, in ascending order, and other arguments are refused before anything is sent") {
    suites::hold("arguments", simulated, 2, [](auto& rank) {
        group world{rank.net()};
        std::vector<double> values(3, rank.me());
        mixer mix{world, values, topo::full{}};
        mix.start(4);
        suites::expect_error(rank, errc::invalid_argument, {"step 5", "under way"}, [&] { mix.start(5); });
        mix.wait();
        suites::expect_error(rank, errc::invalid_argument, {"step 4", "after step 4"}, [&] { mix.start(4); });
        mix.run(9);
        rank.check(values[2] == 0.5 && mix.counts().steps == 2 && mix.counts().bytes_sent == 48, "wrong mean or counts");
        std::vector<double> others(rank.me() == 0 ? 3 : 4);
        suites::expect_error(rank, errc::mismatch, {"count"}, [&] { mixer{world, others, topo::full{}}; });
    });
}

TEST_CASE("a late neighbour fails the step in time, and the error names who is awaited") {
    suites::watchdog const guard{60};
    suites::hold("late", threads, 2, [](auto& rank) {
        auto world = group{rank.net()}.within(300ms);
        std::vector<double> values(50, rank.me());
        mixer mix{world, values, topo::full{}};
        rank.meet();
        if (rank.me() == 1) return std::this_thread::sleep_for(900ms);
        suites::expect_error(rank, errc::timed_out, {"mixer over full", "awaits rank 1", "step 0"}, [&] { mix.run(0); });
        suites::expect_error(rank, errc::poisoned, {}, [&] { mix.run(1); });
    }, suites::ending::may_abort);
}

TEST_CASE("a late neighbour is skipped: its weight is the rank's own; its message is known to be of the past, and it is heard again") {
    suites::watchdog const guard{60};
    for (std::size_t count : {std::size_t{2}, std::size_t{400}, std::size_t{40000}})
        suites::hold("skipped", threads, 2, [count](auto& rank) {
            auto world = group{rank.net()}.within(15s);
            std::vector<double> values(count, 4.0 * rank.me());
            mixer mix{world, values, topo::full{}, topo::metropolis{}, skipping(50ms)};
            if (rank.me() == 0) {
                mix.run(0);
                rank.check(values[0] == 0.0 && mix.counts().skipped == 1, "did not keep its value");
                rank.meet();
            } else {
                rank.meet();
                mix.run(0);
                rank.check(values[0] == 2.0, "does not get what was sent before");
            }
            for (step_id t = 1; t < 20; ++t) {
                rank.meet();
                mix.run(t);
            }
            rank.check(mix.counts().skipped < 19, "is never heard again");
            rank.check(mix.counts().stale > 0 || rank.me() == 1, "takes a message of the past");
            rank.meet();
        });
}

TEST_CASE("whoever ends is left out, the others go on and come to an end of their own") {
    suites::watchdog const guard{60};
    for (std::size_t count : {std::size_t{3}, std::size_t{300}, std::size_t{30000}})
        suites::hold("left", threads, 4, [count](auto& rank) {
            auto world = group{rank.net()}.within(15s);
            std::vector<double> values(count, rank.me());
            auto mix = std::optional<mixer>{std::in_place, world, values, topo::ring_graph{}, topo::metropolis{}, skipping()};
            for (step_id t = 0; t < 5; ++t) mix->run(t);
            if (rank.me() == 2) return;
            for (step_id t = 5; t < 200; ++t) mix->run(t);
            bool const is_neighbour = rank.me() != 0;
            rank.check((mix->counts().skipped > 150) == is_neighbour, "skips " + std::to_string(mix->counts().skipped));
            rank.check(values[0] > 0.0 && values[0] < 3.0, "values are not means");
            std::this_thread::sleep_for(20ms);
        });
}
