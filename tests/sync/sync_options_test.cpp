// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/sync_options.hpp"

#include "chorus/collective/barrier.hpp"
#include "chorus/sync/every_step.hpp"
#include "chorus/sync/synchroniser.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/counted_allocations.hpp"

#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

TEST_CASE("after the first period a step allocates nothing, with and without a delay, packed or each tensor alone") {
    for (chorus::step_id delay : {0u, 2u})
        for (std::size_t bytes : {std::size_t{0}, std::size_t{1} << 20}) {
            std::uint64_t made = 1;
            chorus::thread_fleet{2}.run([&](chorus::thread_transport& net) {
                chorus::group world{net};
                std::vector<float> a(1000, 1.0f), b(10, 2.0f);
                chorus::synchroniser sync{world, std::vector{std::span{a}, std::span{b}}, chorus::every_step{}, chorus::synchroniser_options{.delay = delay, .bucket_bytes = bytes}};
                auto together = chorus::plan_barrier(world);
                for (int t = 0; t < 12; ++t) sync.step();
                together.run();
                std::uint64_t const before = suites::allocations;
                together.run();
                for (int t = 0; t < 50; ++t) sync.step();
                together.run();
                if (net.rank() == 0) made = suites::allocations - before;
                together.run();
            });
            CHECK(made == 0);
        }
}
