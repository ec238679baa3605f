// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/overlap/priority_all_reduce.hpp"

#include "chorus/collective/barrier.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/counted_allocations.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

TEST_CASE("steps allocate nothing once the reduction is made and was run") {
    suites::watchdog const guard{60};
    suites::hold("memory", [](chorus::rank_id p) { return chorus::thread_fleet{p}; }, 2, [](auto& rank) {
        chorus::group world{rank.net()};
        std::vector<float> a(700), b(3000);
        chorus::priority_all_reduce reduce{world, std::vector<std::span<float>>{a, b}, chorus::sum{}, chorus::ring{}, {.slice = 100, .window = 3}};
        auto meet = plan_barrier(world);
        auto step = [&] {
            for (std::size_t layer : {std::size_t{1}, std::size_t{0}}) reduce.ready(layer);
            reduce.finish();
        };
        step();
        meet.run();
        std::uint64_t const before = suites::allocations;
        meet.run();
        for (int i = 0; i < 20; ++i) step();
        meet.run();
        std::uint64_t const made = suites::allocations - before;
        meet.run();
        rank.check(made == 0, std::to_string(made) + " allocations");
        rank.check(a == std::vector<float>(700, 0.0f), "wrong sum");
    });
}
