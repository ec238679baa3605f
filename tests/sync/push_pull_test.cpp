// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/push_pull.hpp"

#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using chorus::group;
using chorus::rank_id;

namespace {

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p, {.delay = 5}}; };

/// Pulls every weight to a target of the rank's own.
void fill_gradient(std::vector<float>& g, std::vector<float> const& w, rank_id r) {
    for (std::size_t i = 0; i < g.size(); ++i) g[i] = w[i] - static_cast<float>(r + i);
}

}  // namespace

TEST_CASE("a pull each step and no correction: synchronous SGD to the bit, warm-up as well, at any size") {
    suites::watchdog const guard{60};
    for (rank_id p = 1; p <= 17; ++p)
        for (chorus::push_pull_options const& how : {chorus::push_pull_options{.every = 1, .warm_up = 0, .decay = 0.01, .correction = 0},
                                                     chorus::push_pull_options{.every = 7, .warm_up = 6, .decay = 0.01}})
            suites::hold("bsp", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                std::vector<float> w(11, 1.0f), g(11), plain(11, 1.0f), mean(11);
                chorus::push_pull sync{world, std::vector{std::span{w}}, std::vector{std::span{g}.first(4), std::span{g}.subspan(4)}, how};
                for (int t = 0; t < 6; ++t) {
                    fill_gradient(g, w, rank.me());
                    fill_gradient(mean, plain, rank.me());
                    rank.check(sync.step(), "no pull");
                    chorus::all_reduce(world, mean, chorus::mean{});
                    for (std::size_t i = 0; i < plain.size(); ++i) plain[i] -= 0.1f * (mean[i] + 0.01f * plain[i]);
                    rank.check(w == plain, "step " + std::to_string(t));
                }
            });
}

TEST_CASE("pulls are counted: steps / k; each gives all ranks the same bits, those of the mean gradients so far") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 3u, 4u})
        for (std::uint32_t k : {1u, 2u, 5u})
            suites::hold("pulls", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                std::vector<float> w(9, 0.0f), g(9), common(9, 0.0f);
                chorus::push_pull sync{world, std::vector{std::span{w}}, std::vector{std::span{g}}, {.every = k, .warm_up = 2}};
                std::vector<std::vector<float>> pushed;
                for (int t = 0; t < 22; ++t) {
                    fill_gradient(g, w, rank.me());
                    pushed.push_back(g);
                    bool const pulled = sync.step();
                    sync.advance();
                    rank.check(pulled == (t < 2 || (t - 1) % static_cast<int>(k) == 0), "when");
                    if (!pulled) continue;
                    for (auto& mean : pushed) {
                        chorus::all_reduce(world, mean, chorus::mean{});
                        for (std::size_t i = 0; i < common.size(); ++i) common[i] -= 0.1f * mean[i];
                    }
                    pushed.clear();
                    rank.check(w == common, "step " + std::to_string(t));
                }
                rank.check(sync.pulls() == 2 + 20 / k, std::to_string(sync.pulls()));
                sync.pull();
            });
}

TEST_CASE("between pulls the weights go by the compensated step, in the order of its formula") {
    suites::hold("local", simulated, 2, [](auto& rank) {
        group world{rank.net()};
        std::vector<double> w{1.0}, g{1.0};
        chorus::push_pull sync{world, std::vector{std::span{w}}, std::vector{std::span{g}},
                               {.every = 9, .warm_up = 0, .local_rate = 0.5, .decay = 0.25, .own = 2, .correction = 4, .movement_scale = 8}};
        sync.step();  // 1 - 0.5 · (2 + 0.25 + 0.5 · (0.875 - 1))
        rank.check(w[0] == -0.09375, std::to_string(w[0]));
        sync.step();  // -0.09375 - 0.5 · (2 - 0.0234375 + 0.5 · (0.875 + 0.09375))
        rank.check(w[0] == -1.32421875, std::to_string(w[0]));
        sync.pull();
        rank.check(w[0] == sync.common()[0], "the common weights");
    });
    suites::hold("refused", simulated, 1, [](auto& rank) {
        group world{rank.net()};
        std::vector<double> w(3), g(2);
        suites::expect_error(rank, chorus::errc::invalid_argument, {"2 gradients for 3 weights"},
                             [&] { chorus::push_pull{world, std::vector{std::span{w}}, std::vector{std::span{g}}}; });
        suites::expect_error(rank, chorus::errc::invalid_argument, {"`every`"},
                             [&] { chorus::push_pull{world, std::vector{std::span{w}}, std::vector{std::span{w}}, {.every = 0}}; });
    });
}
