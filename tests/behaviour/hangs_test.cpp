// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::plan_options;
using chorus::rank_id;

namespace {

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };
auto const processes = [](rank_id p) { return chorus::process_fleet{p}; };

}  // namespace

TEST_CASE("HNG-1: the longest limits do not fire; zero means only if complete at once") {
    suites::watchdog const guard{60};
    std::vector<chorus::time_limit> const longest{
        (std::chrono::milliseconds::max)(), std::chrono::hours{24 * 365 * 100}, (std::chrono::nanoseconds::max)()};
    for (chorus::time_limit const limit : longest)
        suites::hold("long limit", threads, 2, [&](auto& rank) {
            group world{rank.net()};
            std::vector<int> v(3, 1);
            auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, {.deadline = limit});
            if (rank.me() == 1) std::this_thread::sleep_for(std::chrono::milliseconds{100});
            plan.start();
            rank.check(plan.wait_for(limit), "gave up");
            rank.check(v == std::vector<int>(3, 2), "wrong sum");
        });
    suites::hold(
        "zero", threads, 2,
        [&](auto& rank) {
            while (rank.me() == 1 && !rank.net().is_aborted()) std::this_thread::yield();
            if (rank.me() == 1) return;
            group world{rank.net()};
            std::vector<int> v(3, 1);
            suites::expect_error(rank, errc::timed_out, {"rank 1"}, [&] {
                plan_all_reduce(world, v, chorus::sum{}, chorus::ring{}, {.deadline = std::chrono::seconds{0}}).run();
            });
        },
        suites::ending::may_abort);
}

TEST_CASE("HNG-2: a peer that ended before the first use of a subgroup is noticed long before the limit") {
    suites::watchdog const guard{60};
    for (bool cleanly : {false, true}) {
        suites::failure_list ended;
        suites::hold(
            "ended", processes, 2,
            [&](auto& rank) {
                group const both = group{rank.net()}.split_into(2);
                if (rank.me() == 0 && cleanly) return;
                if (rank.me() == 0) ::_exit(0);
                auto const begin = std::chrono::steady_clock::now();
                std::vector<int> v(3);
                suites::expect_error(rank, errc::peer_lost, {"rank 0 is gone", "all_reduce #0"}, [&] {
                    plan_options const patient{.deadline = std::chrono::seconds{30}};
                    plan_all_reduce(both, v, chorus::sum{}, chorus::ring{}, patient).run();
                });
                rank.check(std::chrono::steady_clock::now() - begin < std::chrono::seconds{4}, "noticed late");
                ended.add("survivor");
            },
            suites::ending::may_abort);
        CHECK(ended.texts().size() == 1);
    }
}

TEST_CASE("HNG-3: a timeout tells who is missing, in what, and which number it has") {
    suites::watchdog const guard{60};
    suites::hold(
        "missing", threads, 4,
        [](auto& rank) {
            group world{rank.net()};
            chorus::barrier(world);
            while (rank.me() >= 2 && !rank.net().is_aborted()) std::this_thread::yield();
            if (rank.me() >= 2) return;
            std::vector<float> v(100);
            plan_options const hasty{.deadline = std::chrono::milliseconds{300}};
            auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::all_pairs{}, hasty);
            suites::expect_error(rank, errc::timed_out,
                                 {"all_reduce #1 of 100 float sum", "ranks 2, 3: did not enter it (last: barrier #0", "0.3"}, [&] { plan.run(); });
        },
        suites::ending::may_abort);
}

TEST_CASE("HNG-6: everybody sends first, much more than any buffer holds") {
    suites::watchdog const guard{60};
    auto const exchange = [](auto& rank) {
        group world{rank.net()};
        std::size_t const count = (16u << 20) / sizeof(std::uint64_t) / rank.size();
        std::vector<std::uint64_t> in(count * rank.size());
        std::vector<std::uint64_t> out(in.size());
        for (std::size_t i = 0; i < in.size(); ++i) in[i] = i * rank.size() + rank.me();
        all_to_all(world, in, out);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < out.size(); ++i) {
            std::size_t const from = i / count;
            wrong += out[i] != (rank.me() * count + i % count) * rank.size() + from;
        }
        rank.check(wrong == 0, std::to_string(wrong) + " elements are wrong");
        all_gather(world, std::span{in}.first(count), out, chorus::ring{});
        for (std::size_t i = 0; i < out.size(); ++i) wrong += out[i] != i % count * rank.size() + i / count;
        rank.check(wrong == 0, std::to_string(wrong) + " elements of the ring are wrong");
    };
    for (rank_id p : {2u, 3u}) {
        suites::hold("threads", threads, p, exchange);
        suites::hold("processes", processes, p, exchange);
        suites::hold(
            "streams", [](rank_id q) { return chorus::process_fleet{q, {.attach_from_bytes = ~std::uint64_t{0}}}; }, p,
            exchange);
    }
}
