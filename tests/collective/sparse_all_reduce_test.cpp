// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/sparse_all_reduce.hpp"

#include "chorus/base/random.hpp"
#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/threshold.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;
using chorus::sparse_exchange;

namespace {

constexpr sparse_exchange all_exchanges[] = {sparse_exchange::gather, sparse_exchange::merge, sparse_exchange::split};

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };

/// Whole numbers, zero but for a share of the elements that differs between ranks: none on rank 2, all on rank 3.
std::vector<float> values_of(rank_id rank, std::size_t count, std::uint64_t seed) {
    chorus::counter_random const random{seed, rank};
    std::uint64_t const share = rank == 2 ? 0 : rank == 3 ? 100 : 5;
    std::vector<float> v(count, 0.0f);
    for (std::size_t i = 0; i < count; ++i)
        if (random.below(2 * i, 100) < share) v[i] = static_cast<float>(1 + random.below(2 * i + 1, 50)) * (i % 2 == 0 ? 1.0f : -1.0f);
    return v;
}

std::vector<float> sum_of_all(rank_id ranks, std::size_t count, std::uint64_t seed) {
    std::vector<float> total(count, 0.0f);
    for (rank_id r = 0; r < ranks; ++r) {
        auto const v = values_of(r, count, seed);
        for (std::size_t i = 0; i < count; ++i) total[i] += v[i];
    }
    return total;
}

}  // namespace

TEST_CASE("every exchange gives the sum of what was selected: few, none or all entries, run after run, at every group size") {
    suites::watchdog const guard{100};
    for (sparse_exchange how : all_exchanges)
        for (rank_id p = 1; p <= 17; ++p)
            for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{p + 1}, std::size_t{500}})
                suites::hold("sum", simulated, p, [&](auto& rank) {
                    group world{rank.net()};
                    std::vector<float> v(count);
                    chorus::threshold select{0.5f};
                    auto plan = chorus::plan_sparse_all_reduce(world, std::span{v}, select, how);
                    for (std::uint64_t run = 0; run < 2; ++run) {
                        auto const mine = values_of(rank.me(), count, run);
                        std::copy(mine.begin(), mine.end(), v.begin());
                        plan.run();
                        rank.check(v == sum_of_all(p, count, run), std::string{to_string(how)} + ", run " + std::to_string(run) + ": " + plan.describe());
                    }
                });
}

TEST_CASE("CMP-4: a rank that selects nothing, and then all of them") {
    for (sparse_exchange how : all_exchanges)
        suites::hold("nothing", simulated, 3, [how](auto& rank) {
            group world{rank.net()};
            chorus::threshold select{1.0f};
            std::vector<float> v(100, rank.me() == 0 ? 1e-9f : 0.0f);
            if (rank.me() == 1) v[42] = 5.0f;
            auto plan = chorus::plan_sparse_all_reduce(world, std::span{v}, select, how);
            plan.run();
            std::vector<float> expected(100, 0.0f);
            expected[42] = 5.0f;
            rank.check(v == expected, std::string{to_string(how)} + ": not 5 at 42 alone");
            std::fill(v.begin(), v.end(), 0.0f);
            plan.run();
            rank.check(v == std::vector<float>(100, 0.0f), std::string{to_string(how)} + ": not nothing");
        });
}

TEST_CASE("CMP-11: entries of different places are not added") {
    for (sparse_exchange how : all_exchanges)
        suites::hold("places", simulated, 2, [how](auto& rank) {
            group world{rank.net()};
            chorus::threshold select{0.5f};
            std::vector<float> v = rank.me() == 0 ? std::vector<float>{1, 0, 0, 2} : std::vector<float>{0, 7, 0, 5};
            chorus::plan_sparse_all_reduce(world, std::span{v}, select, how).run();
            rank.check(v == std::vector<float>{1, 7, 0, 7}, std::string{to_string(how)});
        });
}

TEST_CASE("all ranks have the same bits, whatever the order in which they were added") {
    for (sparse_exchange how : all_exchanges)
        for (rank_id p : {2u, 3u, 5u, 8u, 11u}) {
            std::vector<std::vector<float>> results(p);
            suites::hold("bits", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                chorus::counter_random const random{rank.me()};
                std::vector<float> v(200);
                for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(random.unit(i) - 0.5);
                chorus::top_k select{0.2};
                chorus::plan_sparse_all_reduce(world, std::span{v}, select, how).run();
                results[rank.me()] = v;
            });
            for (rank_id r = 1; r < p; ++r) CHECK(results[r] == results[0]);
        }
}

TEST_CASE("EFB-1: with error feedback around it all that was ever put in arrives or waits in a residual") {
    for (sparse_exchange how : all_exchanges) {
        std::vector<float> arrived(4, 0.0f), waiting(4, 0.0f);
        suites::hold("feedback", simulated, 3, [&](auto& rank) {
            group world{rank.net()};
            chorus::error_feedback select{chorus::top_k::of(1)};
            std::vector<float> const x{8, 4, 2, 1};
            std::vector<float> v(4);
            auto plan = chorus::plan_sparse_all_reduce(world, std::span{v}, select, how);
            for (int step = 0; step < 40; ++step) {
                std::copy(x.begin(), x.end(), v.begin());
                plan.run();
                if (rank.me() == 0)
                    for (std::size_t i = 0; i < 4; ++i) arrived[i] += v[i];
            }
            std::fill(v.begin(), v.end(), 0.0f);
            for (int step = 0; step < 40; ++step) {
                std::fill(v.begin(), v.end(), 0.0f);
                plan.run();
                if (rank.me() == 0)
                    for (std::size_t i = 0; i < 4; ++i) waiting[i] += v[i];
            }
        });
        for (std::size_t i = 0; i < 4; ++i) CHECK(arrived[i] + waiting[i] == 3 * 40 * std::vector<float>{8, 4, 2, 1}[i]);
    }
}

TEST_CASE("two at once in one group do not meet, in whatever order they advance") {
    suites::watchdog const guard{60};
    suites::hold("two at once", simulated, 5, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> a = values_of(rank.me(), 60, 1), b = values_of(rank.me(), 60, 2);
        chorus::threshold select_a{0.5f}, select_b{0.5f};
        auto first = chorus::plan_sparse_all_reduce(world, std::span{a}, select_a, sparse_exchange::split);
        auto second = chorus::plan_sparse_all_reduce(world, std::span{b}, select_b, sparse_exchange::merge);
        first.start();
        second.start();
        auto const is_done = [](chorus::plan& p) { return p.advance() == chorus::progress::done; };
        for (bool a_done = false, b_done = false; !a_done || !b_done;) {
            if (rank.me() % 2 == 0) a_done = is_done(first), b_done = is_done(second);
            else b_done = is_done(second), a_done = is_done(first);
        }
        rank.check(a == sum_of_all(5, 60, 1) && b == sum_of_all(5, 60, 2), "the sums");
    });
}

TEST_CASE("what has no entries is refused on all ranks; so is a second compression") {
    suites::watchdog const guard{60};
    suites::hold("no entries", [](rank_id p) { return chorus::thread_fleet{p}; }, 3, [](auto& rank) {
        auto const world = group{rank.net()}.within(std::chrono::seconds{5});
        std::vector<float> v(10, 1.0f);
        chorus::half_cast dense;
        auto const wrong = suites::error_of([&] { chorus::plan_sparse_all_reduce(world, std::span{v}, dense).run(); });
        rank.check(wrong && wrong->code() != errc::timed_out, wrong ? wrong->what() : "no error");
    }, suites::ending::may_abort);
}
