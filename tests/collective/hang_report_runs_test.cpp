// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/transport/any_transport.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/loopback_wire.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

constexpr rank_id size = 4;
constexpr rank_id odd = 2;
constexpr std::chrono::milliseconds limit{250};

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };
auto const processes = [](rank_id p) { return chorus::process_fleet{p}; };
auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };
auto const network = [](rank_id p) { return suites::loopback_fleet{p}; };

/// The law on all transports between which a hang must explain itself.
template <class Law>
void everywhere(char const* name, Law const& law) {
    suites::watchdog const guard{60};
    suites::hold(name, threads, size, law, suites::ending::may_abort);
    suites::hold(name, processes, size, law, suites::ending::may_abort);
    suites::hold(name, simulated, size, law, suites::ending::may_abort);
    suites::hold(name, network, size, law, suites::ending::may_abort);
}

template <class Net>
constexpr bool is_network = std::is_same_v<Net, suites::loopback_transport>;

/// Blames `odd` and says what it does; the deadline of one rank ends the operation on all.
template <class Rank, class Call>
void expect_report(Rank& rank, std::string const& words, Call const& call) {
    auto const thrown = suites::error_of(call);
    if (!thrown) return rank.check(false, "nothing was thrown");
    std::string const text = thrown->what();
    rank.check(thrown->code() == errc::timed_out, "another error: " + text);
    rank.check(thrown->peer() == odd, "blames " + std::to_string(thrown->peer()) + ": " + text);
    rank.check(text.find(words) != std::string::npos, "\"" + words + "\" is not in: " + text);
}

/// So that one rank reports, and what the others do at that time is known.
chorus::plan_options one_hurries(rank_id me) { return {.deadline = (me == 0 ? 1 : 40) * limit}; }

/// Present, but not in chorus, until the others have given up.
template <class Rank>
void stay_away(Rank& rank) {
    using net = std::decay_t<decltype(rank.net())>;
    if constexpr (std::is_same_v<net, suites::turn_taking_transport>) return;
    auto const until = std::chrono::steady_clock::now() + (is_network<net> ? 6 : 80) * limit;  // a network tells who polls
    while (!rank.net().is_aborted() && std::chrono::steady_clock::now() < until)
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
}

}  // namespace

TEST_CASE("HNG-3: a rank that never calls anything, or not this, is told apart from those that wait") {
    everywhere("absent", [](auto& rank) {
        constexpr bool answers = !is_network<std::decay_t<decltype(rank.net())>>;
        if (rank.me() == odd) return stay_away(rank);
        std::vector<float> v(100);
        group world{rank.net()};
        auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, one_hurries(rank.me()));
        expect_report(rank, answers ? "; rank 2: never called anything" : "; rank 2: did not answer within 200 ms",
                      [&] { plan.run(); });
    });
    everywhere("absent later", [](auto& rank) {
        constexpr bool answers = !is_network<std::decay_t<decltype(rank.net())>>;
        group world{rank.net()};
        chorus::barrier(world);
        if (rank.me() == odd) return stay_away(rank);
        std::vector<float> v(100);
        auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::recursive_doubling{}, one_hurries(rank.me()));
        expect_report(rank,
                      answers ? "all_reduce #1 of 100 float sum" : "; rank 2: did not answer within 200 ms",
                      [&] { plan.run(); });
        expect_report(rank, answers ? "; rank 2: did not enter it (last: barrier #0" : "rank 2: did not", [&] { plan.wait(); });
    });
}

TEST_CASE("ranks whose deadlines pass at the same time blame the same one") {
    everywhere("all at once", [](auto& rank) {
        group world{rank.net()};
        chorus::barrier(world);
        if (rank.me() == odd) return stay_away(rank);
        std::vector<float> v(100);
        auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, {.deadline = limit});
        expect_report(rank, "; rank 2: did not", [&] { plan.run(); });
    });
}

TEST_CASE("a rank in an earlier operation, or in a later one, is said to be there") {
    for (bool is_ahead : {false, true})
        everywhere(is_ahead ? "ahead" : "behind", [is_ahead](auto& rank) {
            group world{rank.net()};
            std::vector<int> v(7), w(8);
            auto first = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{});
            auto second = plan_all_reduce(world, w, chorus::sum{}, chorus::ring{});
            auto third = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, one_hurries(rank.me()));
            auto fourth = plan_all_reduce(world, w, chorus::sum{}, chorus::ring{});
            if (rank.me() == odd) {
                auto& mine = is_ahead ? fourth : second;
                rank.check(suites::error_of([&] { mine.run(); }).has_value(), "ran alone");
            } else {
                expect_report(rank,
                              is_ahead ? "; rank 2: in a later one, all_reduce #3 of 8 int32 sum"
                                       : "; rank 2: in an earlier one, all_reduce #1 of 8 int32 sum",
                              [&] { third.run(); });
            }
        });
}

TEST_CASE("a rank one run behind is said to be so, and does not count as absent") {
    everywhere("one run behind", [](auto& rank) {
        constexpr bool answers = !is_network<std::decay_t<decltype(rank.net())>>;
        group world{rank.net()};
        std::vector<int> v(7);
        auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, one_hurries(rank.me()));
        for (int run = 0; run < 3; ++run) plan.run();
        if (rank.me() == odd) return stay_away(rank);
        expect_report(rank, answers ? "; rank 2: did not enter run 4 of it (last: run 3, done)" : "; rank 2: did not answer",
                      [&] { plan.run(); });
    });
}

TEST_CASE("swapped operations: both sides are shown") {
    everywhere("swapped", [](auto& rank) {
        group world{rank.net()};
        std::vector<int> v(7), w(8);
        auto first = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, one_hurries(rank.me()));
        auto second = plan_all_reduce(world, w, chorus::sum{}, chorus::ring{});
        auto const thrown = suites::error_of([&] { (rank.me() == odd ? second : first).run(); });
        if (!thrown) return rank.check(false, "nothing was thrown");
        std::string const text = thrown->what();
        rank.check(thrown->code() == errc::timed_out, text);
        for (char const* words : {"all_reduce #0 of 7 int32 sum by ring on rank 0", "; rank 2: in a later one, all_reduce #1 of 8"})
            rank.check(text.find(words) != std::string::npos, std::string{words} + " is not in: " + text);
    });
}

TEST_CASE("another root is a mismatch, not a timeout") {
    auto const law = [](auto& rank) {
        auto const world = group{rank.net()}.within(8 * limit);
        std::vector<int> v(7);
        auto const thrown = suites::error_of([&] { chorus::broadcast(world, v, rank.me() == odd ? 1u : 0u); });
        rank.check(!thrown || thrown->code() == errc::mismatch, thrown ? thrown->what() : "");
        if (!thrown) stay_away(rank);
    };
    suites::watchdog const guard{60};
    suites::hold("root", threads, size, law, suites::ending::may_abort);
    suites::hold("root", processes, size, law, suites::ending::may_abort);
}

TEST_CASE("a stopped process is blamed") {
    suites::watchdog const guard{60};
    suites::hold(
        "stopped", processes, size,
        [](auto& rank) {
            auto const world = group{rank.net()}.within(8 * limit);
            std::vector<std::uint32_t> const mine{static_cast<std::uint32_t>(::getpid())};
            std::vector<std::uint32_t> everybodys(size);
            all_gather(world, mine, everybodys);
            chorus::barrier(world);
            std::vector<float> v(100);
            auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, one_hurries(rank.me()));
            if (rank.me() == odd) {
                ::raise(SIGSTOP);
                return;
            }
            expect_report(rank, "; rank 2: did not enter it (last: barrier #1", [&] { plan.run(); });
            ::kill(static_cast<pid_t>(everybodys[odd]), SIGCONT);
        },
        suites::ending::may_abort);
}

TEST_CASE("behind any_transport, on a subgroup: ranks are those of the transport, group ranks are added") {
    suites::watchdog const guard{60};
    suites::hold(
        "subgroup", threads, size,
        [](auto& rank) {
            chorus::any_transport net{rank.net()};
            group world{net};
            std::vector<rank_id> const turned{3, 2, 0};
            if (rank.me() == 1 || rank.me() == odd) return stay_away(rank);
            auto const some = world.subgroup(turned).within(limit);
            std::vector<int> v(7);
            expect_report(rank, "; rank 2 (1 in the group): never called anything", [&] { all_reduce(some, v, chorus::sum{}); });
        },
        suites::ending::may_abort);
}
