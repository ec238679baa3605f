// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/elastic.hpp"

#include "chorus/sync/every_step.hpp"
#include "chorus/sync/synchroniser.hpp"
#include "suites/replica_training.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

TEST_CASE("the centre moves as far as the ranks are pulled together: z plus the sum of all values changes by local updates alone") {
    suites::watchdog const guard{60};
    auto const simulated = [](chorus::rank_id p) { return suites::simulated_fleet{p}; };
    for (chorus::rank_id p : {2u, 4u})
        for (chorus::step_id delay : {0u, 1u, 2u})
            suites::hold("elastic", simulated, p, [&](auto& rank) {
                chorus::group world{rank.net()};
                suites::replica mine{rank.me()};
                chorus::synchroniser sync{world, mine.tensors(), chorus::every_step{}, chorus::uncompressed{}, chorus::elastic{.rate = 0.5}, {.delay = delay}};
                chorus::step_id const steps = 5;
                for (chorus::step_id t = 0; t < steps; ++t) {
                    mine.add_whole_numbers(t);
                    sync.step();
                }
                sync.drain();
                std::vector<double> sum = mine.values;
                chorus::all_reduce(world, sum, chorus::sum{});
                auto const centre = sync.last_synced(2);
                std::size_t const first = mine.values.size() - centre.size();
                for (std::size_t i = 0; i < centre.size(); ++i) {
                    double wanted = static_cast<double>(first + i) / 8 * (p + 1);
                    for (chorus::rank_id r = 0; r < p; ++r)
                        for (chorus::step_id t = 0; t < steps; ++t) wanted += suites::replica::whole_number(r, t, first + i);
                    rank.check(centre[i] + sum[first + i] == doctest::Approx(wanted).epsilon(1e-13), "element " + std::to_string(i));
                }
            });
}
