// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/overlap/progress_thread.hpp"

#include "chorus/collective/barrier.hpp"
#include "chorus/overlap/priority_all_reduce.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::progress;
using chorus::rank_id;
using namespace std::chrono_literals;

namespace {

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };

/// Notes whether two threads were ever inside at once, and ends after so many calls.
struct watched {
    int left = 0;
    std::atomic<int> inside{0};
    std::atomic<bool> was_shared{false};
    std::atomic<int> calls{0};

    progress advance() noexcept {
        if (inside.fetch_add(1) != 0) was_shared = true;
        ++calls;
        if (left > 0) --left;  // no atomic: only the hand-over orders it
        progress const now = left == 0 ? progress::done : left % 3 == 0 ? progress::idle : progress::moved;
        inside.fetch_sub(1);
        return now;
    }
};

}  // namespace

TEST_CASE("one thread at a time drives what is handed over: between the hand-overs, and in a pause, the thread touches nothing") {
    suites::watchdog const guard{60};
    chorus::progress_thread helper{50us};
    watched one;
    watched other;
    for (int round = 0; round < 200; ++round) {
        one.left = other.left = 20 + round % 7;
        auto first = helper.drive(one);
        auto second = helper.drive(other);
        for (int i = 0; i < 3; ++i) {
            auto const mine = helper.pause();
            one.advance();
            other.left += 1;
        }
        first.take_back();
        first.take_back();
        while (one.advance() != progress::done) continue;
        auto const moved = std::move(second);
    }
    CHECK(!one.was_shared);
    CHECK(!other.was_shared);
    CHECK(one.calls > 200);
}

TEST_CASE("what has nothing to do costs no turns, and goes on when told") {
    suites::watchdog const guard{60};
    chorus::progress_thread helper;
    watched one;
    one.left = 10;
    auto const driven = helper.drive(one);
    auto is_over = [&] {
        auto const mine = helper.pause();
        return one.left == 0;
    };
    while (!is_over()) std::this_thread::yield();
    std::this_thread::sleep_for(20ms);
    std::uint64_t const before = helper.turns();
    std::this_thread::sleep_for(50ms);
    CHECK(helper.turns() == before);
    {
        auto const mine = helper.pause();
        one.left = 10;
    }
    while (!is_over()) std::this_thread::yield();
    CHECK(helper.turns() > before);
}

TEST_CASE("NBL-7: plans go on while their ranks only compute") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 2u, 3u})
        suites::hold("plans", threads, p, [](auto& rank) {
            group world{rank.net()};
            std::vector<std::int64_t> a(3), b(200'000);
            auto small_sum = plan_all_reduce(world, a, chorus::sum{}, chorus::ring{});
            auto large_sum = plan_all_reduce(world, b, chorus::sum{}, chorus::ring{});
            chorus::progress_thread helper;
            for (int step = 1; step <= 5; ++step) {
                a.assign(a.size(), step);
                b.assign(b.size(), 2 * step);
                small_sum.start();
                large_sum.start();
                auto first = helper.drive(small_sum);
                auto second = helper.drive(large_sum);
                auto is_over = [&](chorus::plan& sum) {
                    auto const mine = helper.pause();
                    return sum.advance() == progress::done;
                };
                while (!is_over(small_sum) || !is_over(large_sum)) std::this_thread::sleep_for(1ms);
                first.take_back();
                second.take_back();
                small_sum.wait();
                large_sum.wait();
                std::int64_t const ranks = rank.size();
                rank.check(a == std::vector<std::int64_t>(a.size(), ranks * step), "the small sum");
                rank.check(b == std::vector<std::int64_t>(b.size(), ranks * 2 * step), "the large sum");
                chorus::barrier(world);
            }
        });
}

TEST_CASE("layers made ready in a pause are reduced by the thread") {
    suites::watchdog const guard{60};
    suites::hold("layers", threads, 2, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> a(1000), b(3000), c(10);
        chorus::priority_all_reduce reduce{world, std::vector<std::span<float>>{a, b, c}, chorus::sum{}, chorus::ring{}, {.slice = 256}};
        chorus::progress_thread helper;
        for (int step = 1; step <= 4; ++step) {
            auto driven = helper.drive(reduce);
            std::vector<float>* all[] = {&a, &b, &c};
            for (std::size_t layer = 3; layer-- > 0;) {
                all[layer]->assign(all[layer]->size(), static_cast<float>(step));
                auto const mine = helper.pause();
                reduce.ready(layer);
            }
            driven.take_back();
            reduce.finish();
            for (std::vector<float> const* each : all) rank.check(*each == std::vector<float>(each->size(), 2.0f * static_cast<float>(step)), "wrong sum");
        }
    });
}

TEST_CASE("what goes wrong in the thread comes out of the caller's wait") {
    suites::watchdog const guard{60};
    suites::hold("errors", threads, 2, [](auto& rank) {
        auto const world = group{rank.net()}.within(100ms);
        std::vector<float> v(100, 1.0f);
        auto sum = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{});
        chorus::progress_thread helper;
        if (rank.me() == 1) {
            std::this_thread::sleep_for(400ms);  // the other one gives up meanwhile
            auto const wrong = suites::error_of([&] { sum.run(); });
            rank.check(wrong && wrong->code() == errc::timed_out, wrong ? wrong->what() : "no error");
            return;
        }
        sum.start();
        auto driven = helper.drive(sum);
        std::this_thread::sleep_for(200ms);
        driven.take_back();
        rank.check(sum.advance() == progress::failed, "the thread has not noticed the deadline");
        suites::expect_error(rank, errc::timed_out, {"all_reduce #0"}, [&] { sum.wait(); });
        suites::expect_error(rank, errc::timed_out, {"all_reduce #0"}, [&] { sum.wait(); });
    }, suites::ending::may_abort);
}
