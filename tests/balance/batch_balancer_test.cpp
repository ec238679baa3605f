// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/balance/batch_balancer.hpp"

#include "chorus/base/random.hpp"
#include "suites/expected_error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using chorus::balancer_options;
using chorus::batch_balancer;
using chorus::errc;

namespace {

using batches = std::vector<std::uint64_t>;

batches of(batch_balancer const& b) { return {b.batches().begin(), b.batches().end()}; }

/// What the ranks' batches take at these speeds, each off by a part of at most `noise`.
std::vector<double> times_of(batch_balancer const& b, std::vector<double> const& speeds, double noise = 0, std::uint64_t step = 0) {
    chorus::counter_random const random{7, step};
    std::vector<double> times;
    for (std::size_t r = 0; r < speeds.size(); ++r)
        times.push_back(static_cast<double>(b.batches()[r]) / speeds[r] * (1 + noise * (2 * random.unit(r) - 1)));
    return times;
}

double slowest(std::vector<double> const& times) { return *std::max_element(times.begin(), times.end()); }

std::vector<double> speeds_of(std::size_t p) {
    std::vector<double> speeds;
    for (std::size_t r = 0; r < p; ++r) speeds.push_back(10.0 * (1 + static_cast<double>(r * 5 % 4)));
    return speeds;
}

}  // namespace

TEST_CASE("steady speeds: within the hysteresis of the best after one update, and at rest from then on; batches always add up") {
    for (std::size_t p = 1; p <= 17; ++p)
        for (std::uint64_t total : {p, p + 3, 100 * p}) {
            auto const speeds = speeds_of(p);
            batch_balancer balancer{p, total};
            balancer.update(times_of(balancer, speeds));
            batches const settled = of(balancer);
            CHECK(std::accumulate(settled.begin(), settled.end(), std::uint64_t{0}) == total);
            double best = 0;
            auto const exact = chorus::proportional_batches(speeds, total, std::vector<chorus::batch_bounds>(p, {.least = 1}));
            for (std::size_t r = 0; r < p; ++r) best = (std::max)(best, static_cast<double>(exact[r]) / speeds[r]);
            CHECK(slowest(times_of(balancer, speeds)) * 0.95 <= best * (1 + 1e-9));
            for (int i = 0; i < 20; ++i) CHECK_FALSE(balancer.update(times_of(balancer, speeds)));
            CHECK(of(balancer) == settled);
        }
}

TEST_CASE("noise below the hysteresis moves nothing once speeds are known; without hysteresis it does") {
    std::vector<double> const speeds{10, 20, 30, 40};
    for (double hysteresis : {0.1, 0.0}) {
        batch_balancer balancer{4, 1000, {.smoothing = 0.2, .hysteresis = hysteresis}};
        balancer.update(times_of(balancer, speeds));
        int changes = 0;
        for (std::uint64_t t = 0; t < 200; ++t) changes += balancer.update(times_of(balancer, speeds, 0.04, t)) ? 1 : 0;
        CHECK((changes == 0) == (hysteresis > 0));
    }
}

TEST_CASE("a rank that becomes slow is relieved step by step, the sooner the less is smoothed, and gets its part back") {
    std::vector<double> const even(4, 10.0), one_slow{10, 10, 10, 2.5};
    int last = 0;
    for (double smoothing : {1.0, 0.5, 0.1}) {
        batch_balancer balancer{4, 400, {.smoothing = smoothing, .hysteresis = 0.02}};
        for (int i = 0; i < 10; ++i) balancer.update(times_of(balancer, even));
        CHECK(of(balancer) == batches(4, 100));
        int updates = 0;
        while (slowest(times_of(balancer, one_slow)) > 1.05 * 400 / 32.5 && updates < 1000) balancer.update(times_of(balancer, one_slow)), ++updates;
        CHECK(updates < 100);
        CHECK((updates > last || smoothing == 1.0));
        last = updates;
        for (int i = 0; i < 200; ++i) balancer.update(times_of(balancer, even));
        CHECK(slowest(times_of(balancer, even)) < 1.03 * 10);
    }
}

TEST_CASE("bounds hold at every step, and a rank without samples is not measured") {
    std::vector<chorus::batch_bounds> const bounds{{0, 0}, {5, 20}, {1, 1000}, {1, 1000}};
    batch_balancer balancer{4, 200, {.smoothing = 0.5, .hysteresis = 0.0, .bounds = bounds}};
    std::vector<double> const speeds{1, 1000, 1, 0.001};
    for (std::uint64_t t = 0; t < 30; ++t) {
        auto times = times_of(balancer, speeds, 0.3, t);
        times[0] = -1;
        balancer.update(times);
        for (std::size_t r = 0; r < 4; ++r) CHECK((bounds[r].least <= balancer.batches()[r] && balancer.batches()[r] <= bounds[r].most));
    }
    CHECK(of(balancer) == batches{0, 20, 179, 1});
    CHECK(balancer.speed(0) == 0);
}

TEST_CASE("what is no time or option is refused, and nothing was measured") {
    batch_balancer balancer{2, 10};
    CHECK(suites::unlike(errc::invalid_argument, {"1 times for 2 ranks"}, [&] { balancer.update(std::vector<double>{1}); }) == "");
    for (double time : {0.0, -1.0, 1e308 * 10}) CHECK(suites::unlike(errc::invalid_argument, {"the time of rank 1"}, [&] { balancer.update(std::vector<double>{1, time}); }) == "");
    CHECK(balancer.speed(0) == 0);
    for (balancer_options const& wrong : {balancer_options{.smoothing = 0}, balancer_options{.smoothing = 1.5}, balancer_options{.hysteresis = 1}})
        CHECK(suites::unlike(errc::invalid_argument, {"a smoothing of"}, [&] { batch_balancer{2, 10, wrong}; }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"rank 2 shall have at least 1"}, [&] { batch_balancer{3, 2}; }) == "");
}
