// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/random.hpp"
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using chorus::group;
using chorus::rank_id;

namespace {

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };
auto const processes = [](rank_id p) { return chorus::process_fleet{p}; };
auto const simulated = [](rank_id p) { return suites::simulated_fleet{p, {.seed = 3, .delay = 30}}; };

// Values carry the number of the iteration; rank 1 dawdles now and then.
template <class Rank>
void back_to_back(Rank& rank, std::int64_t iterations, bool with_plans) {
    group world{rank.net()};
    std::int64_t const p = rank.size();
    chorus::counter_random const random{11};
    std::vector<std::int64_t> all(rank.size());
    std::vector<std::int64_t> mine(1), sum(1), told(1);
    auto gather_plan = plan_all_gather(world, mine, all);
    auto sum_plan = plan_all_reduce(world, mine, sum, chorus::sum{});
    auto tell_plan = plan_broadcast(world, told, rank_id{2} % rank.size());
    for (std::int64_t i = 0; i < iterations; ++i) {
        if (rank.me() == 1 && random.below(static_cast<std::uint64_t>(i), 200) == 0)
            std::this_thread::sleep_for(std::chrono::microseconds{500});
        mine[0] = i * 100 + rank.me();
        told[0] = rank.me() == 2 % rank.size() ? i : -1;
        if (with_plans) {
            gather_plan.run();
            sum_plan.run();
            tell_plan.run();
        } else {
            all_gather(world, mine, all);
            all_reduce(world, mine, sum, chorus::sum{});
            broadcast(world, told, rank_id{2} % rank.size());
        }
        bool right = sum[0] == p * i * 100 + p * (p - 1) / 2 && told[0] == i;
        for (rank_id r = 0; r < rank.size(); ++r) right = right && all[r] == i * 100 + r;
        if (!right) return rank.check(false, "wrong values in iteration " + std::to_string(i));
    }
}

}  // namespace

TEST_CASE("ORD-6: back-to-back collectives never take one another's messages") {
    suites::watchdog const guard{100};
    for (bool with_plans : {true, false}) {
        auto const law = [&](std::int64_t iterations) {
            return [=](auto& rank) { back_to_back(rank, iterations, with_plans); };
        };
        suites::hold("threads", threads, 3, law(3000));
        suites::hold("processes", processes, 3, law(with_plans ? 3000 : 1000));
        suites::hold("simulated", simulated, 3, law(100));
    }
}

TEST_CASE("THR-1: sixteen ranks on few cores do not collapse") {
    suites::watchdog const guard{100};
    suites::hold("16 ranks", threads, 16, [](auto& rank) {
        group world{rank.net()};
        auto meet = plan_barrier(world);
        for (int i = 0; i < 1000; ++i) meet.run();
        std::vector<std::int64_t> v(1);
        auto sum = plan_all_reduce(world, v, chorus::sum{});
        for (std::int64_t i = 0; i < 1000; ++i) {
            v[0] = i + rank.me();
            sum.run();
            if (v[0] != 16 * i + 120) return rank.check(false, "wrong sum in iteration " + std::to_string(i));
        }
    });
}

TEST_CASE("THR-2: no rank is ever more than one barrier ahead") {
    suites::watchdog const guard{100};
    for (int algorithm = 0; algorithm < 2; ++algorithm) {
        std::atomic<int> phases[3] = {};
        suites::hold("phases", threads, 3, [&](auto& rank) {
            group world{rank.net()};
            auto meet = algorithm == 0 ? plan_barrier(world) : plan_barrier(world, chorus::dissemination{});
            for (int number = 1; number <= 20'000; ++number) {
                phases[rank.me()] = number;
                meet.run();
                for (auto const& phase : phases) {
                    int const seen = phase;
                    if (seen != number && seen != number + 1)
                        return rank.check(false, std::to_string(seen) + " seen in phase " + std::to_string(number));
                }
            }
        });
    }
}
