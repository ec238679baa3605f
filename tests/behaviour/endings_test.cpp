// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
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

std::set<std::string> files_in_shared_memory() {
    std::set<std::string> names;
    std::error_code ignored;
    for (auto const& file : std::filesystem::directory_iterator{"/dev/shm", ignored}) {
        std::string const name = file.path().filename().string();
        if (name.find("chorus") != std::string::npos) names.insert(name);
    }
    return names;
}

// Forks a child that calls `body` and exits with what it returns.
template <class Body>
pid_t child_that(Body const& body) {
    pid_t const child = ::fork();
    if (child != 0) return child;
    int code = 99;
    try {
        code = body();
    } catch (std::exception const& thrown) {
        std::fprintf(stderr, "a child threw: %s\n", thrown.what());
    }
    ::_exit(code);
}

int status_of(pid_t child) {
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return status;
}

// What outlives main: used by a forked child only.
std::optional<chorus::thread_transport> static_net;
std::optional<group<chorus::thread_transport>> static_group;
std::optional<chorus::plan> static_plan;
std::vector<float> static_data;

void begin_static_plan() {
    static_net.emplace(std::make_shared<chorus::detail::thread_world>(2u), 0u);
    static_group.emplace(*static_net);
    static_data.resize(1u << 20);
    static_plan.emplace(plan_all_reduce(*static_group, static_data, chorus::sum{}, chorus::ring{}));
    static_plan->start();
}

template <class End>
void check_exit_with_pending_plan(End const& end) {
    auto const begin = std::chrono::steady_clock::now();
    pid_t const child = ::fork();
    if (child == 0) {
        ::alarm(20);
        begin_static_plan();
        end();
    }
    int const status = status_of(child);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 7);
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{10});
}

}  // namespace

TEST_CASE("ABT-1: abort from another thread frees blocked ranks, which then say the same again") {
    suites::watchdog const guard{60};
    suites::hold(
        "abort", threads, 3,
        [](auto& rank) {
            group world{rank.net()};
            std::vector<float> v(10'000);
            while (rank.me() == 2 && !rank.net().is_aborted()) std::this_thread::yield();
            if (rank.me() == 2) return;
            std::jthread outside;
            std::atomic<std::chrono::steady_clock::time_point> aborted_at{};
            if (rank.me() == 0)
                outside = std::jthread{[&] {
                    std::this_thread::sleep_for(std::chrono::milliseconds{100});
                    aborted_at = std::chrono::steady_clock::now();
                    world.abort("told from outside");
                }};
            auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{});
            suites::expect_error(rank, errc::aborted, {"told from outside"}, [&] { plan.run(); });
            if (rank.me() == 0)
                rank.check(std::chrono::steady_clock::now() - aborted_at.load() < std::chrono::seconds{4}, "late");
            suites::expect_error(rank, errc::aborted, {"told from outside"}, [&] { plan.wait(); });
            suites::expect_error(rank, errc::poisoned, {"told from outside"}, [&] { plan.start(); });
            suites::expect_error(rank, errc::poisoned, {"told from outside"}, [&] { chorus::barrier(world); });
        },
        suites::ending::may_abort);
}

TEST_CASE("ABT-3: 50 runs killed in the middle of a long sum leave nothing behind, and the session's name works on") {
    suites::watchdog const guard{100};
    auto const before = files_in_shared_memory();
    std::string const name = "chorus_test_killed_" + std::to_string(::getpid());
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    auto const sum = [&](rank_id me, int runs) {
        return child_that([=] {
            ::alarm(20);
            chorus::shared_memory_transport net{name, me, 2};
            group world{net};
            std::vector<float> v((16u << 20) / sizeof(float), 1.0f);
            auto plan = plan_all_reduce(world, v, chorus::sum{});
            auto const wrong = suites::error_of([&] {
                for (int i = 0; i < runs; ++i) {
                    plan.run();
                    if (i == 0 && me == 0 && ::write(ready[1], "", 1) != 1) return;
                }
            });
            if (!wrong) return v.front() == 2.0f && v.back() == 2.0f ? 0 : 3;
            return wrong->code() == errc::peer_lost ? 1 : 2;
        });
    };
    for (int run = 0; run < 50; ++run) {
        pid_t const survivor = sum(0, 1'000'000);
        pid_t const victim = sum(1, 1'000'000);
        char byte = 1;
        REQUIRE(::read(ready[0], &byte, 1) == 1);
        std::this_thread::sleep_for(std::chrono::microseconds{700 * (run % 10)});
        ::kill(victim, SIGKILL);
        CHECK(WIFSIGNALED(status_of(victim)));
        if (run % 2 == 0) ::kill(survivor, SIGKILL);
        int const status = status_of(survivor);
        if (run % 2 != 0) CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 1));  // told that its peer is lost
    }
    pid_t const one = sum(0, 1);
    pid_t const two = sum(1, 1);
    CHECK(status_of(one) == 0);
    CHECK(status_of(two) == 0);
    CHECK(files_in_shared_memory() == before);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("ABT-5: a rank that exits with an error ends its peer's next collective, and the fleet says who it was") {
    suites::watchdog const guard{60};
    suites::failure_list ended;
    suites::outcome const seen = suites::observe(processes, 2, [&](auto& rank) {
        group world{rank.net()};
        chorus::barrier(world);
        if (rank.me() == 0) ::_exit(1);
        suites::expect_error(rank, errc::peer_lost, {"rank 0"}, [&] {
            chorus::barrier(world);
            chorus::barrier(world);
        });
        ended.add("survivor");
    });
    CHECK(ended.texts().size() == 1);
    for (std::string const& text : seen.failures) FAIL_CHECK(text);
    CHECK_MESSAGE(seen.thrown.find("rank 0") != std::string::npos, seen.thrown);
}

TEST_CASE("ABT-6: a static plan that is under way does not keep the program from ending") {
    suites::watchdog const guard{60};
    check_exit_with_pending_plan([] { std::exit(7); });
    check_exit_with_pending_plan([] {
        std::atexit([] { static_plan->advance(); });
        std::exit(7);
    });
    check_exit_with_pending_plan([] { std::thread{[] { std::exit(7); }}.join(); });
}
