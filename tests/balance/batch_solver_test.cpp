// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/balance/batch_solver.hpp"

#include "chorus/base/random.hpp"
#include "suites/expected_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

using chorus::batch_bounds;
using chorus::batch_cost;
using chorus::errc;
using chorus::exchange_cost;

namespace {

using batches = std::vector<std::uint64_t>;

std::uint64_t sum_of(batches const& b) { return std::accumulate(b.begin(), b.end(), std::uint64_t{0}); }

/// Costs of which every third rank has no fixed part, and some are equal.
std::vector<batch_cost> costs_of(std::size_t p, std::uint64_t seed) {
    chorus::counter_random const random{seed, p};
    std::vector<batch_cost> costs;
    for (std::size_t r = 0; r < p; ++r) {
        auto const part = [&](std::uint64_t k) { return static_cast<double>(random.below(4 * r + k, 8)) / 4; };
        costs.push_back({0.25 + part(0), r % 3 == 0 ? 0 : 4 * part(1), part(2), part(3)});
    }
    return costs;
}

double slowest_of(std::vector<batch_cost> const& costs, exchange_cost const& exchange, batches const& b) {
    double slowest = 0;
    for (std::size_t r = 0; r < b.size(); ++r) slowest = (std::max)(slowest, step_time(costs[r], exchange, b[r]));
    return slowest;
}

/// The shortest slowest step of all whole numbers within the bounds that add up: tries each.
double best_of_all(std::vector<batch_cost> const& costs, exchange_cost const& exchange, std::vector<batch_bounds> const& bounds, std::uint64_t total, batches& given) {
    std::size_t const r = given.size();
    if (r == costs.size()) return total == 0 ? slowest_of(costs, exchange, given) : std::numeric_limits<double>::infinity();
    double best = std::numeric_limits<double>::infinity();
    for (std::uint64_t b = bounds[r].least; b <= (std::min)(bounds[r].most, total); ++b) {
        given.push_back(b);
        best = (std::min)(best, best_of_all(costs, exchange, bounds, total - b, given));
        given.pop_back();
    }
    return best;
}

std::vector<exchange_cost> const exchanges{{}, {2, 1, 0}, {3.5, 0.25, 0.5}, {500, 3, 1}};

}  // namespace

TEST_CASE("no other whole numbers within the bounds have a shorter slowest step: every one is tried") {
    for (std::size_t p = 1; p <= 4; ++p)
        for (std::uint64_t seed = 0; seed < 40; ++seed)
            for (exchange_cost const& exchange : exchanges) {
                auto const costs = costs_of(p, seed);
                std::uint64_t const total = seed % 13;
                chorus::counter_random const random{seed, 99};
                std::vector<batch_bounds> bounds(p);
                if (seed % 2 == 1)
                    for (std::size_t r = 0; r < p; ++r) bounds[r] = {random.below(2 * r, total / p + 1), r == 0 ? total : total / p + random.below(2 * r + 1, 4)};
                auto const made = chorus::balanced_batches(costs, total, exchange, bounds);
                CHECK(sum_of(made) == total);
                for (std::size_t r = 0; r < p; ++r) CHECK((bounds[r].least <= made[r] && made[r] <= bounds[r].most));
                batches given;
                CHECK(slowest_of(costs, exchange, made) == best_of_all(costs, exchange, bounds, total, given));
            }
}

TEST_CASE("at any size: whole numbers that add up, and nobody could take one more and still be done before the slowest") {
    for (std::size_t p = 1; p <= 17; ++p)
        for (std::uint64_t total : {0u, 1u, 7u, 100u, 4096u, 1000003u})
            for (exchange_cost const& exchange : exchanges) {
                auto const costs = costs_of(p, total);
                auto const b = chorus::balanced_batches(costs, total, exchange);
                CHECK(b.size() == p);
                CHECK(sum_of(b) == total);
                double const slowest = slowest_of(costs, exchange, b);
                for (std::size_t r = 0; r < p && total > 0; ++r) CHECK(step_time(costs[r], exchange, b[r] + 1) >= slowest);
            }
}

TEST_CASE("linear costs finish within one sample of each other; equal ones get equal batches, what is left over going to the lower ranks") {
    for (std::size_t p = 1; p <= 17; ++p) {
        std::vector<batch_cost> costs = costs_of(p, 5);
        double dearest = 0;
        for (batch_cost& c : costs) c.fixed = c.backward_fixed = 0, dearest = (std::max)(dearest, c.per_sample + c.backward_per_sample);
        auto const b = chorus::balanced_batches(costs, 100 * p);
        double fastest = std::numeric_limits<double>::infinity();
        for (std::size_t r = 0; r < p; ++r) fastest = (std::min)(fastest, step_time(costs[r], {}, b[r]));
        CHECK(slowest_of(costs, {}, b) - fastest <= dearest);
    }
    CHECK(chorus::balanced_batches(std::vector(4, batch_cost{.per_sample = 2}), 66) == batches{17, 17, 16, 16});
}

TEST_CASE("a rank whose start costs more than all samples elsewhere gets none, or its least") {
    std::vector<batch_cost> const costs{{1, 0, 0, 0}, {1, 1000, 0, 0}};
    CHECK(chorus::balanced_batches(costs, 50) == batches{50, 0});
    CHECK(chorus::balanced_batches(costs, 50, {}, std::vector<batch_bounds>{{}, {.least = 1}}) == batches{49, 1});
    CHECK(chorus::balanced_batches(costs, 50, {}, std::vector<batch_bounds>{{.most = 20}, {}}) == batches{20, 30});
}

TEST_CASE("Cannikin: what the exchange hides decides. Where it is long, backward passes cost nothing and first gradients are made at one time") {
    // long backward pass on rank 0, long forward pass on rank 1: as long for a sample on both
    std::vector<batch_cost> const costs{{1, 0, 3, 0}, {3, 0, 1, 0}};
    CHECK(chorus::balanced_batches(costs, 40) == batches{20, 20});
    CHECK(chorus::balanced_batches(costs, 40, {.overlapped = 1000}) == batches{30, 10});
    CHECK(chorus::balanced_batches(costs, 40, {.overlapped = 1000, .first_ready = 1}) == batches{20, 20});
}

TEST_CASE("proportional: in proportion to the speeds where that is whole, exact otherwise, nothing to who stands still") {
    CHECK(chorus::proportional_batches(std::vector<double>{3, 0, 1}, 8) == batches{6, 0, 2});
    CHECK(chorus::proportional_batches(std::vector<double>{1, 1, 1}, 4) == batches{2, 1, 1});
    CHECK(chorus::proportional_batches(std::vector<double>{100, 0, 1}, 10, std::vector<batch_bounds>(3, {1, 7})) == batches{7, 1, 2});
    for (std::size_t p = 1; p <= 17; ++p) {
        chorus::counter_random const random{p};
        std::vector<double> speeds;
        for (std::size_t r = 0; r < p; ++r) speeds.push_back(static_cast<double>(1 + random.below(r, 9)));
        auto const all = static_cast<std::uint64_t>(std::accumulate(speeds.begin(), speeds.end(), 0.0));
        auto const made = chorus::proportional_batches(speeds, 7 * all);
        for (std::size_t r = 0; r < p; ++r) CHECK(static_cast<double>(made[r]) == 7 * speeds[r]);
    }
}

TEST_CASE("what is no cost, speed or bound is refused") {
    auto const refused = [](std::initializer_list<std::string_view> words, auto const& call) { CHECK(suites::unlike(errc::invalid_argument, words, call) == ""); };
    std::vector<batch_cost> const one(1), two(2);
    refused({"rank 1", "must grow"}, [] { chorus::balanced_batches(std::vector<batch_cost>{{}, {0, 1, 0, 0}}, 3); });
    refused({"rank 0", "must grow"}, [] { chorus::balanced_batches(std::vector<batch_cost>{{1, -1, 0, 0}}, 3); });
    refused({"rank 0", "finite"}, [] { chorus::balanced_batches(std::vector<batch_cost>{{1, std::nan(""), 0, 0}}, 3); });
    refused({"the exchange"}, [&] { chorus::balanced_batches(one, 3, {.first_ready = 1.5}); });
    refused({"no ranks"}, [] { chorus::balanced_batches({}, 3); });
    refused({"1 bounds for 2 ranks"}, [&] { chorus::balanced_batches(two, 3, {}, std::vector<batch_bounds>(1)); });
    refused({"rank 1 shall have at least 2 and at most 9 samples, of 3 there are 1 left"}, [&] { chorus::balanced_batches(two, 3, {}, std::vector<batch_bounds>(2, {2, 9})); });
    refused({"rank 0 shall have at least 2 and at most 1"}, [&] { chorus::balanced_batches(two, 3, {}, std::vector<batch_bounds>(2, {2, 1})); });
    refused({"all ranks together may have 2 of 3"}, [&] { chorus::balanced_batches(two, 3, {}, std::vector<batch_bounds>(2, {0, 1})); });
    refused({"rank 1", "-1"}, [] { chorus::proportional_batches(std::vector<double>{1, -1}, 3); });
    refused({"all ranks together may have 0 of 3"}, [] { chorus::proportional_batches(std::vector<double>{0, 0}, 3); });
}
