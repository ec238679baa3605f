// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/observe/clock_offset.hpp"

#include "chorus/chorus.hpp"
#include "chorus/observe/trace.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/watchdog.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

using chorus::clock_offset;
using chorus::rank_id;

namespace {

/// All ranks read one clock here, so the offset is nothing but error.
void check_one_clock(auto fleet) {
    fleet.run([](auto& net) {
        chorus::group const world{net};
        clock_offset const mine = chorus::measure_clock_offset(world);
        if (net.rank() == 0 && mine != clock_offset{}) throw std::runtime_error{"rank 0 is off itself"};
        if (net.rank() != 0 && mine.error.count() <= 0) throw std::runtime_error{"an error of nothing"};
        if (std::chrono::abs(mine.to_first) > mine.error) throw std::runtime_error{"the offset is larger than its error"};
    });
}

}  // namespace

TEST_CASE("where all read one clock the offset is within its error") {
    suites::watchdog const guard{20};
    for (rank_id size : {1u, 2u, 3u, 5u}) check_one_clock(chorus::thread_fleet{size});
    check_one_clock(chorus::process_fleet{3});
}

TEST_CASE("a clock that is off by a known time is found to be, within the error") {
    suites::watchdog const guard{20};
    for (std::int64_t off : {std::int64_t{0}, std::int64_t{12'345'678'901}, std::int64_t{-98'765'432'109'876}})
        chorus::thread_fleet{2}.run([off](auto& net) {
            chorus::group const pair{net};
            auto const now = [&] { return chorus::detail::steady_nanoseconds() - (net.rank() == 1 ? off : 0); };
            clock_offset const mine = chorus::detail::measure_pair(pair, 16, now);
            if (net.rank() == 0) return;
            if (std::chrono::abs(mine.to_first - std::chrono::nanoseconds{off}) > mine.error)
                throw std::runtime_error{"off by " + std::to_string(mine.to_first.count() - off) + " ns"};
        });
}

TEST_CASE("it works from any group, is not observed, and leaves the group's operations alone") {
    suites::watchdog const guard{20};
    chorus::thread_fleet{4}.run([](auto& net) {
        chorus::trace kept;
        chorus::group const world = chorus::group{net}.observed_by(kept);
        std::vector<rank_id> const others{3, 1, 2};
        if (net.rank() != 0) {
            chorus::group const some = world.subgroup(others);
            clock_offset const mine = chorus::measure_clock_offset(some, 1);
            if (some.rank() == 0 && mine != clock_offset{}) throw std::runtime_error{"rank 0 of the group is off itself"};
            if (std::chrono::abs(mine.to_first) > mine.error) throw std::runtime_error{"the offset is larger than its error"};
        }
        chorus::barrier(world);
        if (kept.size() != 1) throw std::runtime_error{"what measures was observed"};
    });
}

TEST_CASE("it cannot measure without a round trip") {
    chorus::self_transport net;
    chorus::group const world{net};
    CHECK_THROWS_AS(chorus::measure_clock_offset(world, 0), chorus::error);
    CHECK(chorus::measure_clock_offset(world) == clock_offset{});
}
