// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/engine.hpp"

#include "archetypes/least_transport.hpp"
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/transport/any_transport.hpp"
#include "chorus/transport/recording.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

auto const make = [](rank_id p) { return chorus::thread_fleet{p}; };

using integers = std::vector<std::int64_t>;

// 0 + 1 + … in place, over whatever transport; each algorithm of the list.
template <class Net>
std::string wrong_sums(Net& net, std::size_t count) {
    group world{net};
    std::int64_t const p = net.size();
    std::string wrong;
    auto sum = [&](auto const& algorithm) {
        integers v(count, net.rank());
        auto plan = plan_all_reduce(world, v, chorus::sum{}, algorithm);
        plan.run();
        if (v != integers(count, p * (p - 1) / 2)) wrong += plan.describe() + '\n';
    };
    sum(chorus::ring{});
    sum(chorus::recursive_doubling{});
    sum(chorus::rabenseifner{});
    sum(chorus::all_pairs{});
    sum(chorus::automatic{});
    return wrong;
}

// What one user's operation of many does on one rank.
struct thrower {
    std::int64_t operator()(std::int64_t a, std::int64_t b) const {
        if (a + b == 3) throw std::runtime_error{"out of cheese"};
        return a + b;
    }
};

}  // namespace

TEST_CASE("plans work over any_transport, over the recorder and over both") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 2u, 3u, 6u})
        for (std::size_t count : {0u, 1u, 1000u, 20'000u})
            suites::hold("wrapped", make, p, [&](auto& rank) {
                chorus::any_transport erased{rank.net()};
                rank.check(wrong_sums(erased, count).empty(), "any: " + wrong_sums(erased, count));
                chorus::recording_transport recorder{erased};
                rank.check(wrong_sums(recorder, count).empty(), "recorder of any");
            });
}

TEST_CASE("plans work over a transport that can do the least") {
    archetypes::least_transport net;
    CHECK(wrong_sums(net, 100) == "");
    chorus::any_transport erased{net};
    CHECK(wrong_sums(erased, 100) == "");
    group world{net};
    integers const in{1, 2, 3};
    integers out(3);
    chorus::all_gather(world, in, out);
    CHECK(out == in);
}

TEST_CASE("a plan sends the bytes that it says it sends, each time") {
    suites::watchdog const guard{60};
    for (rank_id p : {2u, 3u, 4u, 7u})
        suites::hold("counted", make, p, [&](auto& rank) {
            chorus::recording_transport net{rank.net()};
            group world{net};
            auto counted = [&](auto const& algorithm) {
                for (std::size_t count : {0u, 1u, 5u, 1000u}) {
                    integers v(count, 1);
                    auto plan = plan_all_reduce(world, v, chorus::sum{}, algorithm);
                    net.clear();
                    for (std::uint64_t run = 1; run <= 2; ++run) {
                        plan.run();
                        rank.check(net.sent_bytes() == run * plan.bytes_sent(),
                                   plan.describe() + ": sent " + std::to_string(net.sent_bytes()));
                    }
                    rank.check(net.sent_bytes() == net.received_bytes() || p != 2, "received");
                }
            };
            counted(chorus::ring{.segments = 3});
            counted(chorus::recursive_doubling{});
            counted(chorus::rabenseifner{});
            counted(chorus::automatic{});
        });
}

TEST_CASE("a deadline ends an operation on all ranks, naming whom it waited for and what all do") {
    suites::watchdog const guard{60};
    suites::hold(
        "deadline", make, 3,
        [](auto& rank) {
            if (rank.me() == 2) {
                while (!rank.net().is_aborted()) std::this_thread::yield();
                return;
            }
            group world{rank.net()};
            integers v(10);
            chorus::plan_options const hasty{.deadline = std::chrono::milliseconds{100}};
            auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::all_pairs{}, hasty);
            suites::expect_error(rank, errc::timed_out,
                                 {"all_reduce #0 of 10 int64 sum", "0.1", "rank 2: never called anything"},
                                 [&] { plan.run(); });
            suites::expect_error(rank, errc::timed_out, {"rank 2"}, [&] { plan.wait(); });
            rank.check(plan.advance() == chorus::progress::failed, "advance does not say failed");
            suites::expect_error(rank, errc::poisoned, {"timed out", "rank 2"}, [&] { plan.start(); });
        },
        suites::ending::may_abort);
}

TEST_CASE("a deadline is noticed by advance alone, and on a simulated network") {
    suites::watchdog const guard{60};
    auto const law = [](auto& rank) {
        if (rank.me() == 1) {
            for (int i = 0; i < 1'000'000 && !rank.net().is_aborted(); ++i) rank.rest(300);
            return;
        }
        group world{rank.net()};
        integers v(10);
        chorus::plan_options const hasty{.deadline = std::chrono::milliseconds{50}};
        auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, hasty);
        plan.start();
        while (plan.advance() != chorus::progress::failed) {}
        suites::expect_error(rank, errc::timed_out, {"rank 1"}, [&] { plan.wait(); });
    };
    suites::hold("threads", make, 2, law, suites::ending::may_abort);
    chorus::simulated_network network{2};
    group world{network.endpoint(0)};
    integers v(10);
    CHECK(suites::unlike(errc::timed_out, {"rank 1"}, [&] {
              all_reduce(world, v, chorus::sum{}, chorus::ring{},
                         chorus::plan_options{.deadline = std::chrono::milliseconds{50}});
          }) == "");
}

TEST_CASE("what a user's operation throws ends the operation everywhere, with its text") {
    suites::watchdog const guard{60};
    suites::hold(
        "thrower", make, 3,
        [](auto& rank) {
            group world{rank.net()};
            integers v(4, rank.me() + 1);
            suites::expect_error(rank, errc::aborted, {"out of cheese"}, [&] {
                all_reduce(world, v, chorus::commutative{thrower{}}, chorus::ring{});
                while (true) all_reduce(world, v, chorus::sum{});  // until it is known here
            });
        },
        suites::ending::may_abort);
}

TEST_CASE("inputs that are not outputs stay as they are") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 2u, 5u})
        suites::hold("const inputs", make, p, [](auto& rank) {
            group world{rank.net()};
            integers const in(1001, rank.me());
            integers const copy = in;
            integers out(1001);
            all_reduce(world, in, out, chorus::sum{});
            reduce(world, in, out, rank_id{0}, chorus::sum{});
            rank.check(in == copy, "the input was written");
        });
}
