// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/outer_step.hpp"

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
constexpr chorus::local_steps thirds{.period = 3};

}  // namespace

TEST_CASE("DiLoCo with an outer SGD of rate 1 is local SGD, to the bit") {
    for (chorus::rank_id p : {1u, 2u, 3u, 5u})
        suites::hold("local SGD", simulated, p, [&](auto& rank) {
            chorus::group world{rank.net()};
            auto const outer = suites::trained(rank.me(), 9, [&](auto tensors) {
                return chorus::synchroniser{world, tensors, thirds, chorus::uncompressed{}, chorus::outer_step{chorus::outer_sgd{1.0}}};
            });
            auto const plain = suites::trained(rank.me(), 9, [&](auto tensors) { return chorus::synchroniser{world, tensors, thirds}; });
            rank.check(outer == plain, "not the same bits");
        });
}

TEST_CASE("Nesterov outside equals the same steps by hand, and sending changes equals sending values") {
    suites::hold("DiLoCo", simulated, 4, [](auto& rank) {
        chorus::group world{rank.net()};
        auto const by = [&](bool sends_change) {
            return suites::trained(rank.me(), 9, [&](auto tensors) {
                return chorus::synchroniser{world, tensors, thirds, chorus::uncompressed{}, chorus::outer_step{chorus::outer_nesterov{0.7, 0.9}, sends_change}};
            });
        };
        suites::replica plain{rank.me()};
        std::vector<double> z = plain.values, moment(z.size());
        for (chorus::step_id t = 0; t < 9; ++t) {
            plain.update(t);
            if (t % 3 != 2) continue;
            chorus::all_reduce(world, plain.values, chorus::mean{});
            for (std::size_t i = 0; i < z.size(); ++i) {
                double const gradient = z[i] - plain.values[i];
                moment[i] = 0.9 * moment[i] + gradient;
                z[i] -= 0.7 * (gradient + 0.9 * moment[i]);
            }
            plain.values = z;
        }
        for (bool sends_change : {false, true}) {
            auto const made = by(sends_change);
            for (std::size_t i = 0; i < z.size(); ++i) rank.check(made[i] == doctest::Approx(z[i]).epsilon(1e-12), "element " + std::to_string(i));
        }
    });
}
