// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/observe/counters.hpp"

#include "chorus/chorus.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/watchdog.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <doctest/doctest.h>

using chorus::operation_counters;
using chorus::rank_id;

TEST_CASE("a difference undoes a sum, and the words hold the numbers") {
    operation_counters const earlier{5, 4, 1, 100};
    operation_counters const later{12, 10, 2, 4196};
    CHECK(chorus::difference(later, earlier) == operation_counters{7, 6, 1, 4096});
    CHECK(chorus::difference(later, {}) == later);
    CHECK(chorus::describe(later) == "12 operations started, 10 finished, 2 failed, 4196 bytes sent");
}

TEST_CASE("all copies of a group count together, subgroups for themselves") {
    suites::watchdog const guard{20};
    std::array<operation_counters, 3> of_world, of_part, in_between;
    std::array<std::uint64_t, 3> expected{};
    chorus::thread_fleet{3}.run([&](chorus::thread_transport& net) {
        chorus::group const world{net};
        chorus::group const part = world.split_into(2);
        std::vector<std::int32_t> v(10, 1);
        chorus::plan sum = chorus::plan_all_reduce(world, std::span{v}, chorus::sum{});
        sum.run();
        operation_counters const before = world.counters();
        for (int i = 0; i < 4; ++i) sum.run();
        chorus::barrier(chorus::group{world});
        chorus::barrier(part);
        of_world[net.rank()] = world.counters();
        of_part[net.rank()] = part.counters();
        in_between[net.rank()] = chorus::difference(world.counters(), before);
        expected[net.rank()] = 5 * sum.bytes_sent() + chorus::plan_barrier(world).bytes_sent();
    });
    for (rank_id r = 0; r < 3; ++r) {
        CHECK(of_world[r] == operation_counters{6, 6, 0, expected[r]});
        CHECK(in_between[r].started == 5);
        CHECK(of_part[r].started == 1);
        CHECK(of_part[r].finished == 1);
    }
}

TEST_CASE("what fails is counted as failed, and sent nothing") {
    suites::watchdog const guard{20};
    std::array<operation_counters, 2> counted;
    chorus::thread_fleet{2}.run([&](chorus::thread_transport& net) {
        chorus::group const world{net};
        std::vector<std::int32_t> v(net.rank() + 1);
        try {
            chorus::all_reduce(world, std::span{v}, chorus::sum{});
        } catch (chorus::error const&) {
        }
        counted[net.rank()] = world.counters();
    });
    for (operation_counters const& c : counted) CHECK(c == operation_counters{1, 0, 1, 0});
}
