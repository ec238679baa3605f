// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_reduce.hpp"
#include "chorus/transport/any_transport.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };
auto const processes = [](rank_id p) { return chorus::process_fleet{p}; };

using integers = std::vector<std::int64_t>;

// Whether the plan's first failure, if any, is one that two threads at once may cause.
bool is_expected(std::optional<chorus::error> const& failure) {
    return !failure || failure->code() == errc::concurrent_use || failure->code() == errc::poisoned;
}

}  // namespace

TEST_CASE("THR-4: two threads with plans of one group get an error, not crossed data or a hang") {
    suites::watchdog const guard{100};
    std::atomic<int> noticed = 0;
    for (int attempt = 0; attempt < 20; ++attempt)
        suites::hold(
            "one group", threads, 2,
            [&](auto& rank) {
                group world{rank.net()};
                integers a(1), b(1);
                auto first = plan_all_reduce(world, a, chorus::sum{});
                auto second = plan_all_reduce(world, b, chorus::sum{});
                auto const loop = [&](chorus::plan& plan, integers& v, std::int64_t offset) {
                    auto const failure = suites::error_of([&] {
                        for (std::int64_t i = 0; i < 1000; ++i) {
                            v[0] = offset + i;
                            plan.run();
                            if (v[0] != 2 * (offset + i)) rank.check(false, "wrong sum");
                        }
                    });
                    rank.check(is_expected(failure), failure ? failure->what() : "");
                    if (failure) ++noticed;
                };
                std::jthread const other{[&] { loop(second, b, 1'000'000); }};
                loop(first, a, 0);
            },
            suites::ending::may_abort);
    CHECK(noticed > 0);
}

TEST_CASE("THR-4: two threads that drive one plan both get an error") {
    suites::watchdog const guard{100};
    for (int attempt = 0; attempt < 20; ++attempt)
        suites::hold(
            "one plan", threads, 2,
            [&](auto& rank) {
                while (rank.me() == 1 && !rank.net().is_aborted()) std::this_thread::yield();
                if (rank.me() == 1) return;
                group world{rank.net()};
                integers v(50'000);
                auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{});
                plan.start();
                auto const wait = [&] {
                    suites::expect_error(rank, errc::concurrent_use, {"two threads"}, [&] { plan.wait(); });
                };
                {
                    std::jthread const other{wait};
                    wait();
                }
                suites::expect_error(rank, errc::poisoned, {"two threads"}, [&] { plan.start(); });
            },
            suites::ending::may_abort);
}

TEST_CASE("THR-4: two threads with a transport each are exact") {
    suites::watchdog const guard{100};
    std::jthread other;
    auto const law = [](std::int64_t offset) {
        return [offset](auto& rank) {
            group world{rank.net()};
            integers v(1);
            auto plan = plan_all_reduce(world, v, chorus::sum{});
            for (std::int64_t i = 0; i < 1000; ++i) {
                v[0] = offset + i;
                plan.run();
                if (v[0] != 2 * (offset + i)) return rank.check(false, "wrong sum in iteration " + std::to_string(i));
            }
        };
    };
    suites::outcome second;
    other = std::jthread{[&] { second = suites::observe(threads, 2, law(1'000'000)); }};
    suites::hold("first fleet", threads, 2, law(0));
    other.join();
    for (std::string const& text : second.failures) FAIL_CHECK("second fleet: ", text);
    CHECK(second.thrown == "");
}

TEST_CASE("THR-4: a rank may have two endpoints, one per thread") {
    suites::watchdog const guard{100};
    auto const worlds = {std::make_shared<chorus::detail::thread_world>(2u),
                         std::make_shared<chorus::detail::thread_world>(2u)};
    suites::failure_list failures;
    std::vector<std::jthread> all;
    for (auto const& world : worlds)
        for (rank_id me : {0u, 1u})
            all.emplace_back([&failures, &world, me] {
                chorus::thread_transport net{world, me};
                group both{net};
                for (std::int64_t i = 0; i < 1000; ++i) {
                    integers v(1, i + me);
                    all_reduce(both, v, chorus::sum{});
                    if (v[0] != 2 * i + 1) failures.add("wrong sum");
                }
                integers last(1);
                all_reduce(both, last, chorus::sum{});
            });
    all.clear();
    CHECK(failures.texts().empty());
}

TEST_CASE("FRK-1: a child forked in the middle, however it ends, disturbs nobody") {
    suites::watchdog const guard{60};
    for (int way = 0; way < 3; ++way)
        suites::hold("fork", processes, 2, [&](auto& rank) {
            group world{rank.net()};
            integers v(100'000, 1);
            auto plan = plan_all_reduce(world, v, chorus::sum{});
            plan.run();
            if (rank.me() == 0) {
                pid_t const child = ::fork();
                if (child == 0 && way == 0) ::_exit(0);
                if (child == 0 && way == 1) std::exit(0);
                if (child == 0) {
                    std::destroy_at(&rank.net());  // what it inherited does nothing
                    ::_exit(0);
                }
                int status = 0;
                rank.check(::waitpid(child, &status, 0) == child && status == 0, "the child failed");
            }
            plan.run();
            plan.run();
            rank.check(v == integers(100'000, 8), "wrong sum");
        });
}
