// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/consensus.hpp"

#include "chorus/collective/all_gather.hpp"
#include "chorus/sync/keep_progress.hpp"
#include "chorus/sync/pairs_hypercube.hpp"
#include "chorus/sync/synchroniser.hpp"
#include "chorus/sync/weight_average.hpp"
#include "suites/replica_training.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::rank_id;
using chorus::step_id;

namespace {

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };

}  // namespace

TEST_CASE("at the end all ranks have the mean of what each had, with the same bits, whoever averaged with whom and what was under way") {
    suites::watchdog const guard{60};
    for (rank_id p = 1; p <= 17; ++p)
        suites::hold("consensus", simulated, p, [&](auto& rank) {
            chorus::group world{rank.net()};
            suites::replica mine{rank.me()};
            chorus::synchroniser sync{world, mine.tensors(), chorus::pairs_hypercube{}, chorus::uncompressed{}, chorus::keep_progress{}, {.delay = 1}};
            for (step_id t = 0; t < 5; ++t) {
                mine.add_whole_numbers(t);
                sync.step();
            }
            sync.consensus();
            std::size_t const count = mine.values.size();
            std::vector<double> all(count * p);
            chorus::all_gather(world, mine.values, all);
            for (std::size_t i = 0; i < count; ++i) {
                double wanted = static_cast<double>(i) / 8 * p;  // pairs keep the mean, and so does this merge
                for (rank_id r = 0; r < p; ++r)
                    for (step_id t = 0; t < 5; ++t) wanted += suites::replica::whole_number(r, t, i);
                bool const is_power_of_2 = (p & (p - 1)) == 0;
                rank.check(is_power_of_2 ? mine.values[i] == wanted / p : std::abs(mine.values[i] - wanted / p) < 1e-12, "element " + std::to_string(i));
                for (rank_id r = 0; r < p; ++r) rank.check(all[r * count + i] == mine.values[i], "other bits on rank " + std::to_string(r));
            }
        });
}

TEST_CASE("averaged over time and then over ranks: the mean of everything") {
    for (rank_id p : {1u, 2u, 4u, 8u})
        suites::hold("both", simulated, p, [&](auto& rank) {
            chorus::group world{rank.net()};
            suites::replica mine{rank.me()};
            chorus::weight_average average{mine.tensors()};
            for (step_id t = 0; t < 4; ++t) {
                for (std::size_t i = 0; i < mine.values.size(); ++i) mine.values[i] = suites::replica::whole_number(rank.me(), t, i);
                average.record();
            }
            average.store();
            chorus::consensus(world, mine.tensors());
            for (std::size_t i = 0; i < mine.values.size(); ++i) {
                double total = 0;
                for (rank_id r = 0; r < p; ++r)
                    for (step_id t = 0; t < 4; ++t) total += suites::replica::whole_number(r, t, i);
                rank.check(mine.values[i] == total / (4 * p), "element " + std::to_string(i));
            }
        });
}
