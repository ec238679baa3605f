// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/balance/weighted_mean.hpp"

#include "chorus/schedule/ring.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };

/// The gradient of one sample.
double sample(std::size_t number, std::size_t element) { return static_cast<double>(number * 37 % 11) * 8 + static_cast<double>(element % 5); }

/// The mean over samples first … first + many - 1.
template <class T>
std::vector<T> mean_of(std::size_t first, std::size_t many, std::size_t count) {
    std::vector<T> mean(count);
    for (std::size_t i = 0; i < count; ++i) {
        double total = 0;
        for (std::size_t s = first; s < first + many; ++s) total += sample(s, i);
        if (many > 0) mean[i] = static_cast<T>(total / static_cast<double>(many));
    }
    return mean;
}

/// 1, 2, 4, 8, 0, 1, …: so that every rank's mean is exact.
std::size_t batch_of(rank_id rank) { return rank % 5 == 4 ? 0 : std::size_t{1} << rank % 5; }

}  // namespace

TEST_CASE("unequal batches give the gradient of a single process, at every group size and count") {
    suites::watchdog const guard{60};
    for (rank_id p = 1; p <= 17; ++p)
        for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{p}, std::size_t{100}})
            suites::hold("unequal", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                std::size_t first = 0, all = 0;
                for (rank_id r = 0; r < p; ++r) {
                    if (r < rank.me()) first += batch_of(r);
                    all += batch_of(r);
                }
                auto gradient = mean_of<float>(first, batch_of(rank.me()), count);
                if (batch_of(rank.me()) == 0)
                    for (float& x : gradient) x = std::numeric_limits<float>::quiet_NaN();
                double const total = chorus::weighted_mean_all_reduce(world, gradient, static_cast<double>(batch_of(rank.me())));
                rank.check(total == static_cast<double>(all), "total " + std::to_string(total));
                rank.check(gradient == mean_of<float>(0, all, count), "the mean of " + std::to_string(count));
            });
}

TEST_CASE("equal batches give the plain mean; a plan reads the weight anew at each start") {
    suites::hold("equal", simulated, 4, [](auto& rank) {
        group world{rank.net()};
        std::vector<double> v(30), plain(30);
        chorus::weighted_share share;
        auto plan = chorus::plan_weighted_mean_all_reduce(world, v, share, chorus::ring{});
        for (int run = 1; run <= 3; ++run) {
            for (std::size_t i = 0; i < v.size(); ++i) v[i] = plain[i] = static_cast<double>((rank.me() + 1) * i * static_cast<std::size_t>(run));
            share.mine = 16.0 * run;
            plan.run();
            chorus::all_reduce(world, plain, chorus::mean{}, chorus::ring{});
            rank.check(v == plain, "run " + std::to_string(run));
            rank.check(share.total == 64.0 * run, "total " + std::to_string(share.total));
        }
        share.mine = rank.me() == 2 ? 3 : 0;  // only rank 2 has samples
        for (double& x : v) x = rank.me();
        plan.run();
        rank.check(v == std::vector<double>(30, 2.0), "rank 2 alone");
        rank.check(plan.describe().find("weighted mean of 30 double: all_reduce #0 of 31 double sum by ring") == 0, plan.describe());
    });
}

TEST_CASE("narrow elements are summed in float") {
    suites::hold("narrow", simulated, 3, [](auto& rank) {
        group world{rank.net()};
        std::vector<chorus::bfloat16> v(5, chorus::bfloat16{static_cast<float>(100 + rank.me())});
        chorus::weighted_mean_all_reduce(world, v, 100.0 + rank.me());
        // (100·100 + 101·101 + 102·102) / 303, rounded once
        rank.check(v == std::vector<chorus::bfloat16>(5, chorus::bfloat16{30605.0f / 303.0f}), "the mean");
    });
}

TEST_CASE("weights that are all 0 leave the buffers and say so; a bad weight ends it on all ranks") {
    suites::watchdog const guard{60};
    suites::hold("zero", simulated, 3, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(7, static_cast<float>(rank.me()));
        rank.check(chorus::weighted_mean_all_reduce(world, v, 0.0) == 0.0, "the total");
        rank.check(v == std::vector<float>(7, static_cast<float>(rank.me())), "the buffer");
    });
    for (double bad : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")})
        suites::hold("bad", simulated, 3, [&](auto& rank) {
            auto const world = group{rank.net()}.within(std::chrono::seconds{10});
            std::vector<float> v(7, 1.0f);
            auto const wrong = suites::error_of([&] { chorus::weighted_mean_all_reduce(world, v, rank.me() == 1 ? bad : 1.0); });
            rank.check(wrong && wrong->code() == errc::invalid_argument, wrong ? wrong->what() : "no error");
            rank.check(wrong && std::string{wrong->what()}.find("is not finite or below 0") != std::string::npos, "the words");
        }, suites::ending::may_abort);
}
