// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/keep_progress.hpp"

#include "chorus/sync/every_step.hpp"
#include "chorus/sync/local_steps.hpp"
#include "chorus/sync/synchroniser.hpp"
#include "suites/replica_training.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

auto const simulated = [](chorus::rank_id p) { return suites::simulated_fleet{p}; };

}  // namespace

TEST_CASE("the mean over the ranks is that of all local updates at once, whatever the delay and the period (OLDSGD)") {
    suites::watchdog const guard{60};
    for (chorus::rank_id p : {1u, 2u, 4u, 8u})
        for (chorus::step_id delay : {0u, 1u, 3u})
            for (std::uint32_t period : {1u, 2u})
                suites::hold("mean", simulated, p, [&](auto& rank) {
                    chorus::group world{rank.net()};
                    suites::replica mine{rank.me()};
                    chorus::synchroniser sync{world, mine.tensors(), chorus::local_steps{.period = period}, chorus::uncompressed{}, chorus::keep_progress{}, {.delay = delay}};
                    chorus::step_id const steps = 7;
                    for (chorus::step_id t = 0; t < steps; ++t) {
                        mine.add_whole_numbers(t);
                        sync.step();
                    }
                    sync.drain();
                    std::vector<double> mean = mine.values;
                    chorus::all_reduce(world, mean, chorus::mean{});
                    for (std::size_t i = 0; i < mean.size(); ++i) {
                        double wanted = static_cast<double>(i) / 8 * p;
                        for (chorus::rank_id r = 0; r < p; ++r)
                            for (chorus::step_id t = 0; t < steps; ++t) wanted += suites::replica::whole_number(r, t, i);
                        rank.check(mean[i] == wanted / p, "element " + std::to_string(i) + " with delay " + std::to_string(delay));
                    }
                });
}

TEST_CASE("without delay it takes what arrived, to the bit") {
    suites::hold("no delay", simulated, 3, [](auto& rank) {
        chorus::group world{rank.net()};
        auto const kept = suites::trained(rank.me(), 4, [&](auto tensors) {
            return chorus::synchroniser{world, tensors, chorus::every_step{}, chorus::uncompressed{}, chorus::keep_progress{}};
        });
        auto const taken = suites::trained(rank.me(), 4, [&](auto tensors) { return chorus::synchroniser{world, tensors, chorus::every_step{}}; });
        for (std::size_t i = 0; i < kept.size(); ++i) rank.check(kept[i] == doctest::Approx(taken[i]).epsilon(1e-14), "element " + std::to_string(i));
    });
}
