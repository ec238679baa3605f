// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/stale_gradient.hpp"

#include "chorus/sync/every_step.hpp"
#include "chorus/sync/synchroniser.hpp"
#include "suites/replica_training.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <cstddef>
#include <deque>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

auto const simulated = [](chorus::rank_id p) { return suites::simulated_fleet{p}; };

/// A gradient that depends on rank, step and weights.
void differentiate(std::vector<double> const& w, chorus::rank_id rank, chorus::step_id step, std::vector<double>& g) {
    for (std::size_t i = 0; i < w.size(); ++i) g[i] = 0.5 * w[i] - chorus::counter_random{rank + std::uint64_t{7}, step}.unit(i);
}

void descend(std::vector<double>& w, std::vector<double> const& g) {
    for (std::size_t i = 0; i < w.size(); ++i) w[i] -= 0.25 * g[i];
}

}  // namespace

TEST_CASE("width 1 is synchronous; width K equals averages delayed by hand by K - 1 steps, to the bit (Pipe-SGD)") {
    suites::watchdog const guard{60};
    for (chorus::rank_id p : {1u, 2u, 3u, 4u})
        for (chorus::step_id late : {0u, 1u, 2u})
            suites::hold("pipe", simulated, p, [&](auto& rank) {
                chorus::group world{rank.net()};
                std::vector<double> w(9, 1.0), g(9), w_by_hand(9, 1.0), g_by_hand(9);
                chorus::synchroniser sync{world, std::vector{std::span{g}}, chorus::every_step{}, chorus::uncompressed{}, chorus::stale_gradient{}, {.delay = late}};
                std::deque<std::vector<double>> under_way;
                for (chorus::step_id t = 0; t < 8; ++t) {
                    differentiate(w, rank.me(), t, g);
                    sync.step();
                    descend(w, g);
                    differentiate(w_by_hand, rank.me(), t, g_by_hand);
                    chorus::all_reduce(world, g_by_hand, chorus::mean{});
                    under_way.push_back(g_by_hand);
                    if (under_way.size() <= late) continue;
                    descend(w_by_hand, under_way.front());
                    under_way.pop_front();
                }
                // one rank alone exchanges nothing, so nothing is late either
                if (p > 1 || late == 0) rank.check(w == w_by_hand, "not the same bits with delay " + std::to_string(late));
            });
}
