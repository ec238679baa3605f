// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/bounded_staleness.hpp"

#include "chorus/transport/simulated.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;
using chorus::sampled_barrier;
using chorus::simulated_network;
using chorus::step_id;
using replica = chorus::bounded_staleness<chorus::simulated_transport, double>;

namespace {

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };

/// What rank r adds to element i in its step t.
double update_of(rank_id r, step_id t, std::size_t i) { return static_cast<double>((r + 1) * (t + 3) * (i + 1) % 17) - 8; }

struct outcome {
    double rate = 0;           ///< steps of all ranks in a unit of time
    step_id widest = 0;        ///< the largest difference of two clocks ever
    bool is_conserved = true;  ///< closed, all ranks held the sum of all updates
};

/// Ranks train until `span` on a clock that is counted, not measured: `length(rank, step)` is how long a step takes, and a rank that may not go on asks again after 1/16.
template <class Length>
outcome simulate(rank_id p, sampled_barrier const& rule, double span, Length const& length) {
    simulated_network network{p, {.seed = 3}};
    std::vector<std::vector<double>> weights(p, std::vector<double>(3, 0.0));
    std::vector<replica> ranks;
    for (rank_id r = 0; r < p; ++r)
        ranks.emplace_back(group{network.endpoint(r)}, std::vector{std::span{weights[r]}}, rule, chorus::staleness_sum::sum);
    using event = std::pair<double, rank_id>;
    std::priority_queue<event, std::vector<event>, std::greater<event>> agenda;
    std::vector<bool> computes(p, true);
    for (rank_id r = 0; r < p; ++r) agenda.emplace(length(r, 0), r);
    outcome found;
    std::vector<double> total(3, 0.0);
    while (agenda.top().first < span) {
        auto const [now, r] = agenda.top();
        agenda.pop();
        if (computes[r]) {
            for (std::size_t i = 0; i < 3; ++i) {
                weights[r][i] += update_of(r, ranks[r].mine(), i);
                total[i] += update_of(r, ranks[r].mine(), i);
            }
            ranks[r].push();
            found.rate += 1 / span;
        } else {
            ranks[r].draw_again();
        }
        computes[r] = ranks[r].try_pull();
        agenda.emplace(now + (computes[r] ? length(r, ranks[r].mine()) : 1.0 / 16), r);
        auto const [low, high] = std::minmax_element(ranks.begin(), ranks.end(), [](replica const& a, replica const& b) { return a.mine() < b.mine(); });
        found.widest = (std::max)(found.widest, high->mine() - low->mine());
    }
    bool open = true;
    for (int turn = 0; open && turn < 100000; ++turn) {
        open = false;
        for (replica& rank : ranks) open |= !rank.try_close();
    }
    for (auto const& w : weights) found.is_conserved = found.is_conserved && w == total;
    return found;
}

}  // namespace

TEST_CASE("bound 0 and everyone: plain averaging of updates, the same bits on all ranks, at any size") {
    suites::watchdog const guard{60};
    for (rank_id p = 1; p <= 9; ++p) {
        std::vector<std::vector<float>> results(p);
        suites::hold("bsp", threads, p, [&](auto& rank) {
            auto const world = group{rank.net()}.within(std::chrono::seconds{20});
            std::vector<float> w(20, 1.0f), plain(20, 1.0f);
            std::span const all{w};
            chorus::bounded_staleness sync{world, std::vector{all.first(7), all.subspan(7)}, sampled_barrier{}};
            std::vector<std::vector<float>> moved(p, std::vector<float>(20, 0.0f));
            for (step_id t = 0; t < 10; ++t) {
                for (std::size_t i = 0; i < w.size(); ++i) w[i] += static_cast<float>(update_of(rank.me(), t, i)) / 8;
                sync.step();
                for (std::size_t i = 0; i < w.size(); ++i) {
                    float sum = 0;
                    for (rank_id r = 0; r < p; ++r) sum += static_cast<float>(update_of(r, t, i)) / 8;
                    plain[i] += sum / static_cast<float>(p);
                }
                bool const is_exact = (p & (p - 1)) == 0;
                for (std::size_t i = 0; i < w.size(); ++i)
                    rank.check(is_exact ? w[i] == plain[i] : std::abs(w[i] - plain[i]) < 1e-4f, "step " + std::to_string(t));
            }
            results[rank.me()] = w;
            sync.close();
        });
        for (auto const& w : results) CHECK(w == results.front());
    }
}

TEST_CASE("closed, every rank holds the sum of all updates of all, whatever the rule") {
    suites::watchdog const guard{60};
    for (sampled_barrier const& rule : {sampled_barrier{}, sampled_barrier{.bound = 3}, sampled_barrier{.sampled = 1}, sampled_barrier{.sampled = 0}})
        suites::hold("sum", threads, 4, [&](auto& rank) {
            auto const world = group{rank.net()}.within(std::chrono::seconds{20});
            std::vector<double> w(5, 100.0);
            chorus::bounded_staleness sync{world, std::vector{std::span{w}}, rule, chorus::staleness_sum::sum};
            for (step_id t = 0; t < 50; ++t) {
                for (std::size_t i = 0; i < w.size(); ++i) w[i] += update_of(rank.me(), t, i);
                sync.step();
            }
            for (double& x : w) x += 1;  // after the last step
            sync.close();
            for (std::size_t i = 0; i < w.size(); ++i) {
                double wanted = 100 + 4;
                for (rank_id r = 0; r < 4; ++r)
                    for (step_id t = 0; t < 50; ++t) wanted += update_of(r, t, i);
                rank.check(w[i] == wanted, "element " + std::to_string(i));
            }
        });
}

TEST_CASE("one rank three times slower: BSP and SSP go at its pace, PSP faster, ASP fastest; clocks keep the bound where everyone is asked") {
    auto const slow = [](rank_id r, step_id) { return r == 0 ? 3.0 : 1.0; };
    rank_id const p = 8;
    auto const bsp = simulate(p, {}, 600, slow);
    auto const ssp = simulate(p, {.bound = 4}, 600, slow);
    auto const psp = simulate(p, {.bound = 4, .sampled = 2}, 600, slow);
    auto const asp = simulate(p, {.bound = sampled_barrier::unbounded}, 600, slow);
    CHECK(bsp.rate < ssp.rate);
    CHECK(ssp.rate < psp.rate);
    CHECK(psp.rate < asp.rate);
    CHECK(bsp.widest <= 1);
    CHECK(ssp.widest <= 5);
    CHECK(psp.widest > ssp.widest);
    for (auto const& one : {bsp, ssp, psp, asp}) CHECK(one.is_conserved);
}

TEST_CASE("steps that are slowed at random: the same order, with bounds in between") {
    chorus::counter_random const random{5};
    auto const jitter = [&](rank_id r, step_id t) { return random.unit(t * 64 + r) < 0.1 ? 3.0 : 1.0; };
    rank_id const p = 8;
    auto const bsp = simulate(p, {}, 600, jitter);
    auto const ssp = simulate(p, {.bound = 4}, 600, jitter);
    auto const pbsp = simulate(p, {.sampled = 2}, 600, jitter);
    auto const asp = simulate(p, {.sampled = 0}, 600, jitter);
    CHECK(bsp.rate < pbsp.rate);
    CHECK(bsp.rate < ssp.rate);
    CHECK(pbsp.rate < asp.rate);
    CHECK(ssp.rate < asp.rate);
    CHECK(bsp.widest <= 1);
    CHECK(ssp.widest <= 5);
    for (auto const& one : {bsp, ssp, pbsp, asp}) CHECK(one.is_conserved);
}
