// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/low_rank_all_reduce.hpp"

#include "chorus/base/random.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::approximation;
using chorus::errc;
using chorus::error_feedback;
using chorus::group;
using chorus::low_rank;
using chorus::rank_id;

namespace {

using floats = std::vector<float>;

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };
auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };

constexpr std::size_t rows = 23, columns = 17;
constexpr std::size_t count = rows * columns - 5;  // the last row is shorter

/// A matrix of this rank, for each seed another.
floats of_rank(std::uint64_t seed, std::uint32_t rank) {
    floats x(count, 0.0f);
    for (std::uint32_t j = 0; j < rank; ++j) {
        chorus::counter_random const random{seed, j};
        for (std::size_t i = 0; i < count; ++i)
            x[i] += static_cast<float>((random.unit(i / columns) - 0.5) * (random.unit(1000 + i % columns) - 0.5));
    }
    return x;
}

double norm(floats const& x) {
    double sum = 0;
    for (float v : x) sum += static_cast<double>(v) * static_cast<double>(v);
    return std::sqrt(sum);
}

double distance(floats const& x, floats const& y) {
    floats difference(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) difference[i] = x[i] - y[i];
    return norm(difference);
}

floats mean_over(rank_id ranks, std::uint64_t step, std::uint32_t rank) {
    floats mean(count, 0.0f);
    for (rank_id r = 0; r < ranks; ++r) {
        auto const x = of_rank(100 * step + r, rank);
        for (std::size_t i = 0; i < count; ++i) mean[i] += x[i] / static_cast<float>(ranks);
    }
    return mean;
}

/// What each rank ends with after so many runs on matrices of rank `rank`.
std::vector<floats> results_of(rank_id ranks, low_rank const& factors, std::uint32_t rank, std::uint64_t steps) {
    std::vector<floats> results(ranks);
    suites::hold("low rank", simulated, ranks, [&](auto& me) {
        group world{me.net()};
        low_rank by = factors;
        floats v(count);
        auto plan = chorus::plan_low_rank_all_reduce(world, std::span{v}, chorus::mean{}, by, chorus::recursive_doubling{});
        for (std::uint64_t step = 0; step < steps; ++step) {
            auto const mine = of_rank(100 * step + me.me(), rank);
            std::copy(mine.begin(), mine.end(), v.begin());
            plan.run();
        }
        results[me.me()] = v;
    });
    return results;
}

}  // namespace

TEST_CASE("a mean of no higher rank arrives whole, with the same bits everywhere, at every group size") {
    suites::watchdog const guard{60};
    for (rank_id p = 1; p <= 17; ++p) {
        floats const mean = mean_over(p, 0, 1);  // of rank p, and one more for the row that is shorter
        auto const all = results_of(p, low_rank{.rank = 4, .columns = columns, .seed = p}, 1, 1);
        for (rank_id r = 1; r < p; ++r) CHECK(all[r] == all[0]);
        if (p < 4) CHECK_MESSAGE(distance(all[0], mean) < 1e-5 * norm(mean), p, " ranks");
        else CHECK(distance(all[0], mean) < norm(mean));
    }
}

TEST_CASE("what all ranks end with is what one rank makes of the mean, step after step") {
    for (std::uint32_t iterations : {1u, 3u})
        for (rank_id p : {2u, 3u, 6u}) {
            low_rank const factors{.rank = 2, .columns = columns, .iterations = iterations, .seed = 3};
            auto const all = results_of(p, factors, 6, 5);
            low_rank alone = factors;
            floats expected(count);
            suites::hold("alone", simulated, 1, [&](auto& me) {
                group world{me.net()};
                auto plan = chorus::plan_low_rank_all_reduce(world, std::span{expected}, chorus::mean{}, alone);
                for (std::uint64_t step = 0; step < 5; ++step) {
                    auto const mean = mean_over(p, step, 6);
                    std::copy(mean.begin(), mean.end(), expected.begin());
                    plan.run();
                }
            });
            CHECK_MESSAGE(distance(all[0], expected) < 1e-3 * norm(expected), p, " ranks, ", iterations, " iterations");
            CHECK(distance(all[0], mean_over(p, 4, 6)) < norm(mean_over(p, 4, 6)));
        }
}

TEST_CASE("short vectors, and ranks as high as a side, are reduced as they are: the sum is exact") {
    for (rank_id p : {1u, 2u, 5u})
        for (std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{16}, count})
            suites::hold("as they are", simulated, p, [&](auto& me) {
                group world{me.net()};
                error_feedback by{low_rank{.rank = 17, .columns = columns}};
                floats v(n);
                auto plan = chorus::plan_low_rank_all_reduce(world, std::span{v}, chorus::sum{}, by);
                for (int run = 0; run < 2; ++run) {
                    for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<float>((me.me() + 1) * i);
                    plan.run();
                    for (std::size_t i = 0; i < n; ++i) me.check(v[i] == static_cast<float>(p * (p + 1) / 2 * i), plan.describe());
                }
                me.check(by.residual().empty(), "a residual of what arrived");
            });
}

TEST_CASE("bytes are those of two all-reduces of the factors; a sum is the mean times the ranks") {
    suites::hold("bytes", simulated, 4, [](auto& me) {
        group world{me.net()};
        floats v(64 * 32), w(64 * 32);
        for (std::size_t i = 0; i < v.size(); ++i) v[i] = w[i] = static_cast<float>((i * 7 + me.me()) % 13);
        low_rank by{.rank = 2, .columns = 32, .iterations = 2}, other = by;
        auto plan = chorus::plan_low_rank_all_reduce(world, std::span{v}, chorus::sum{}, by, chorus::ring{});
        plan.run();
        me.check(plan.bytes_sent() == 2 * (2 * 3 * (2 * 64 * 4 / 4) + 2 * 3 * (2 * 32 * 4 / 4)), std::to_string(plan.bytes_sent()));
        me.check(plan.describe().find("low_rank_all_reduce of 2048 float by rank 2: all_reduce #") == 0, plan.describe());
        chorus::plan_low_rank_all_reduce(world, std::span{w}, chorus::mean{}, other, chorus::ring{}).run();
        for (std::size_t i = 0; i < v.size(); ++i) me.check(v[i] == 4 * w[i], "not four times the mean");
        suites::expect_error(me, errc::unsupported, {"cannot be bound to other buffers"}, [&] { plan.rebind(v.data()); });
    });
}

TEST_CASE("EFB-1: what came in has arrived or waits, against either approximation; ranks that differ do not pile their differences up against their own") {
    constexpr rank_id p = 3;
    constexpr std::uint64_t steps = 60;
    double largest[2] = {};
    for (approximation against : {approximation::own, approximation::averaged}) {
        std::vector<floats> residuals(p);
        floats arrived(count, 0.0f), came(count, 0.0f);
        suites::hold("conserved", simulated, p, [&](auto& me) {
            group world{me.net()};
            error_feedback by{low_rank{.rank = 2, .columns = columns}, {.against = against}};
            floats v(count);
            auto plan = chorus::plan_low_rank_all_reduce(world, std::span{v}, chorus::sum{}, by);
            for (std::uint64_t step = 0; step < steps; ++step) {
                auto const mine = of_rank(me.me(), 5);  // the same in every step
                std::copy(mine.begin(), mine.end(), v.begin());
                plan.run();
                if (me.me() == 0)
                    for (std::size_t i = 0; i < count; ++i) arrived[i] += v[i];
            }
            residuals[me.me()].assign(by.residual().begin(), by.residual().end());
        });
        for (rank_id r = 0; r < p; ++r) {
            auto const mine = of_rank(r, 5);
            for (std::size_t i = 0; i < count; ++i) {
                came[i] += static_cast<float>(steps) * mine[i];
                arrived[i] += residuals[r][i];
            }
            auto& most = largest[static_cast<int>(against)];
            most = (std::max)(most, norm(residuals[r]));
        }
        CHECK(distance(arrived, came) < 1e-4 * norm(came));
    }
    double const once = norm(of_rank(0, 5));
    CHECK(largest[static_cast<int>(approximation::own)] < 20 * once);
    CHECK(largest[static_cast<int>(approximation::averaged)] > 30 * once);
}

TEST_CASE("NaN arrives as NaN on all ranks, and the next step is as if it had not been; what is refused ends it on all") {
    suites::watchdog const guard{60};
    suites::hold("not a number", simulated, 3, [](auto& me) {
        group world{me.net()};
        error_feedback by{low_rank{.rank = 2, .columns = columns}};
        floats v(count, 1.0f);
        auto plan = chorus::plan_low_rank_all_reduce(world, std::span{v}, chorus::mean{}, by);
        if (me.me() == 1) v[7] = std::numeric_limits<float>::quiet_NaN();
        plan.run();
        me.check(std::isnan(v[0]) && std::isnan(v[count - 1]), "not NaN");
        std::fill(v.begin(), v.end(), 1.0f);
        plan.run();
        for (float x : v) me.check(std::abs(x - 1.0f) < 1e-5f, "not 1 but " + std::to_string(x));
    });
    suites::hold("refused", threads, 3, [](auto& me) {
        auto const world = group{me.net()}.within(std::chrono::seconds{5});
        low_rank by{.rank = 2, .columns = columns, .on_nonfinite = chorus::nonfinite::refuse};
        floats v(count, 1.0f);
        if (me.me() == 1) v[7] = std::numeric_limits<float>::infinity();
        auto const wrong = suites::error_of([&] { chorus::plan_low_rank_all_reduce(world, std::span{v}, chorus::mean{}, by).run(); });
        me.check(wrong && wrong->code() != errc::timed_out, wrong ? wrong->what() : "no error");
    }, suites::ending::may_abort);
    suites::hold("sanitise", simulated, 1, [](auto& me) {
        group world{me.net()};
        low_rank by{.on_nonfinite = chorus::nonfinite::sanitise};
        floats v(count, 1.0f);
        suites::expect_error(me, errc::invalid_argument, {"cannot sanitise"}, [&] { chorus::plan_low_rank_all_reduce(world, std::span{v}, chorus::mean{}, by); });
    });
}
