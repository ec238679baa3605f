// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/payload_all_reduce.hpp"

#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };

std::vector<float> values_of(rank_id rank, std::size_t count) {
    std::vector<float> v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<float>((rank + 1) * (i % 7));
    return v;
}

}  // namespace

TEST_CASE("CMP-15: payloads that hold the values add up to the sum, run after run, at every group size") {
    suites::watchdog const guard{60};
    for (rank_id p = 1; p <= 17; ++p)
        for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{p + 1}, std::size_t{100}})
            suites::hold("payloads", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                std::vector<float> v(count), total(count, 0.0f);
                for (rank_id r = 0; r < p; ++r)
                    for (std::size_t i = 0; i < count; ++i) total[i] += values_of(r, count)[i];
                chorus::half_cast by;
                auto plan = chorus::plan_payload_all_reduce(world, std::span{v}, chorus::sum{}, by, chorus::recursive_doubling{});
                for (int run = 0; run < 3; ++run) {
                    for (std::size_t i = 0; i < count; ++i) v[i] = values_of(rank.me(), count)[i];
                    plan.run();
                    rank.check(v == total, "run " + std::to_string(run) + ": " + plan.describe());
                }
            });
}

TEST_CASE("the plan says what it is and sends what its payload's all-reduce sends") {
    suites::hold("bytes", simulated, 4, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(400, 1.0f);
        chorus::half_cast by;
        auto plan = chorus::plan_payload_all_reduce(world, std::span{v}, chorus::mean{}, by, chorus::ring{});
        plan.run();
        rank.check(plan.bytes_sent() == 2 * 3 * 200, std::to_string(plan.bytes_sent()));
        rank.check(plan.describe().find("all_reduce of 400 float as payloads of half_cast: all_reduce #0 of 400 half sum by ring") == 0, plan.describe());
        suites::expect_error(rank, errc::unsupported, {"cannot be bound to other buffers"}, [&] { plan.rebind(v.data()); });
        plan.start();
        suites::expect_error(rank, errc::invalid_argument, {"started while it is under way"}, [&] { plan.start(); });
        while (plan.advance() != chorus::progress::done) continue;
        rank.check(v == std::vector<float>(400, 1.0f), "the mean");
    });
}

TEST_CASE("what an encoder refuses on one rank ends the operation on all") {
    suites::watchdog const guard{60};
    suites::hold("refused", [](rank_id p) { return chorus::thread_fleet{p}; }, 3, [](auto& rank) {
        auto const world = group{rank.net()}.within(std::chrono::seconds{5});
        std::vector<float> v(30, 1.0f);
        if (rank.me() == 1) v[7] = std::numeric_limits<float>::infinity();
        chorus::uncompressed by{.on_nonfinite = chorus::nonfinite::refuse};
        auto const wrong = suites::error_of([&] { chorus::plan_payload_all_reduce(world, std::span{v}, chorus::sum{}, by).run(); });
        rank.check(wrong && wrong->code() != errc::timed_out, wrong ? wrong->what() : "no error");
    }, suites::ending::may_abort);
}
