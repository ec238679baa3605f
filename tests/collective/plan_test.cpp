// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/gather.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/collective/scan.hpp"
#include "chorus/collective/scatter.hpp"

#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::progress;
using chorus::rank_id;

namespace {

auto const make = [](rank_id p) { return chorus::thread_fleet{p}; };
auto const make_simulated = [](rank_id p) {
    return suites::simulated_fleet{p, {.seed = 5, .delay = 20, .rendezvous = true}};
};

using integers = std::vector<std::int64_t>;

// Eight sums are under way at once; every rank starts and waits in an order of its own.
auto const many_in_flight = [](auto& rank) {
    group world{rank.net()};
    std::vector<integers> data;
    std::vector<chorus::plan> plans;
    for (std::size_t i = 0; i < 8; ++i) data.emplace_back(1 + 700 * i);
    for (integers& v : data) plans.push_back(plan_all_reduce(world, v, chorus::sum{}));
    for (std::int64_t round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < 8; ++i)
            data[i].assign(data[i].size(), static_cast<std::int64_t>(i) + round + rank.me());
        for (std::size_t i = 0; i < 8; ++i) plans[(3 * i + rank.me()) % 8].start();
        for (std::size_t i = 0; i < 8; ++i) plans[rank.me() % 2 == 0 ? 7 - i : (5 * i + rank.me()) % 8].wait();
        std::int64_t const p = rank.size();
        for (std::size_t i = 0; i < 8; ++i) {
            std::int64_t const sum = p * (static_cast<std::int64_t>(i) + round) + p * (p - 1) / 2;
            rank.check(data[i] == integers(data[i].size(), sum),
                       "sum " + std::to_string(i) + " of round " + std::to_string(round));
        }
    }
};

}  // namespace

TEST_CASE("a plan says what it does: operation, algorithm, rounds, bytes, and why") {
    suites::hold("describe", make, 4, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(1000);
        auto has = [&](std::string const& text, std::initializer_list<char const*> words) {
            for (char const* word : words)
                rank.check(text.find(word) != std::string::npos, std::string{"no \""} + word + "\" in " + text);
        };
        auto const fixed = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{});
        has(fixed.describe(), {"all_reduce #0", "1000 float sum", "ring", "6 rounds", "sends 6000 bytes", "scratch",
                               ("on rank " + std::to_string(rank.me()) + " of 4").c_str()});
        rank.check(fixed.bytes_sent() == 6000, "bytes_sent");
        has(plan_broadcast(world, v, rank_id{2}).describe(), {"broadcast #1", "chosen by cost model", "bytes on 4"});
        has(plan_barrier(world).describe(), {"barrier #2"});
    });
}

TEST_CASE("many plans may be under way, started and awaited in any order") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 2u, 3u, 7u}) suites::hold("threads", make, p, many_in_flight);
    for (rank_id p : {2u, 5u}) suites::hold("simulated", make_simulated, p, many_in_flight);
}

TEST_CASE("NBL-2: what is done stays done: waiting again, advancing and moving do no harm") {
    for (rank_id p : {1u, 2u})
        suites::hold("done", make, p, [](auto& rank) {
            group world{rank.net()};
            integers v(10, 1);
            auto reduce = plan_all_reduce(world, v, chorus::sum{});
            rank.check(reduce.advance() == progress::done, "not done before the first start");
            reduce.wait();
            reduce.start();
            auto moved = std::move(reduce);
            moved.wait();
            moved.wait();
            rank.check(moved.wait_for(std::chrono::seconds{0}), "not done in no time");
            rank.check(moved.advance() == progress::done, "not done");
            rank.check(v == integers(10, rank.size()), "wrong sum");
            auto meet = plan_barrier(world);
            meet.start();
            while (meet.advance() != progress::done) std::this_thread::yield();
            meet.wait();
        });
}

TEST_CASE("starting or binding again what is under way is refused, and nothing is lost") {
    suites::watchdog const guard{60};
    suites::hold("twice", make, 2, [](auto& rank) {
        group world{rank.net()};
        integers v(10, 1);
        integers other(10, 5);
        auto reduce = plan_all_reduce(world, v, chorus::sum{});
        if (rank.me() == 0) {
            reduce.start();  // the peer comes later
            suites::expect_error(rank, errc::invalid_argument, {"all_reduce #0", "rank 0", "under way"},
                                 [&] { reduce.start(); });
            suites::expect_error(rank, errc::invalid_argument, {"all_reduce #0", "under way"},
                                 [&] { reduce.rebind(other.data()); });
            rank.check(!reduce.wait_for(std::chrono::milliseconds{20}), "done without the peer");
            rank.check(!reduce.wait_for(std::chrono::seconds{0}), "done without the peer");
        }
        chorus::plan meet = plan_barrier(world);
        meet.start();
        if (rank.me() == 1) {
            meet.wait();
            reduce.start();
        }
        reduce.wait();
        meet.wait();
        rank.check(v == integers(10, 2), "wrong sum");
        rank.check(!world.is_poisoned(), "a local refusal poisoned the group");
        suites::expect_error(rank, errc::invalid_argument, {"null"}, [&] { reduce.rebind(nullptr); });
        reduce.rebind(other.data());
        reduce.run();
        rank.check(other == integers(10, 10) && v == integers(10, 2), "the wrong buffer was used after rebind");
        integers const in(10, 7);
        auto apart = plan_all_reduce(world, in, v, chorus::sum{});
        apart.rebind(in.data(), other.data());
        apart.run();
        rank.check(other == integers(10, 14) && v == integers(10, 2), "the wrong output was used after rebind");
    });
}

TEST_CASE("every blocking call takes its options in braces") {
    chorus::thread_fleet{1}.run([](chorus::thread_transport& net) {
        group world{net};
        integers const in(2, 3);
        integers out(2);
        std::vector<std::uint64_t> const counts{2};
        auto const second = std::chrono::seconds{1};
        all_reduce(world, in, out, chorus::sum{}, {}, {.deadline = second});
        all_reduce(world, out, chorus::sum{}, chorus::ring{}, {.deadline = second});
        reduce(world, in, out, 0, chorus::sum{}, {}, {.deadline = second});
        broadcast(world, out, 0, {}, {.deadline = second});
        reduce_scatter(world, in, out, chorus::sum{}, {}, {.deadline = second});
        reduce_scatter_v(world, in, out, counts, chorus::sum{}, {}, {.deadline = second});
        all_gather(world, in, out, {}, {.deadline = second});
        all_gather(world, out, {}, {.deadline = second});
        all_gather_v(world, in, out, counts, {}, {.deadline = second});
        gather(world, in, out, 0, {}, {.deadline = second});
        gather_v(world, in, out, counts, 0, {}, {.deadline = second});
        scatter(world, in, out, 0, {}, {.deadline = second});
        scatter_v(world, in, out, counts, 0, {}, {.deadline = second});
        all_to_all(world, in, out, {}, {.deadline = second});
        all_to_all_v(world, in, counts, out, counts, {}, {.deadline = second});
        scan(world, in, out, chorus::sum{}, {}, {.deadline = second});
        exclusive_scan(world, in, out, chorus::sum{}, {}, {.deadline = second});
        barrier(world, {}, {.deadline = second});
        if (out != in) throw std::runtime_error{"one rank changed its data"};
    });
}

TEST_CASE("NBL-7: progress by advance alone completes; one rank waits while the other computes between looks") {
    suites::watchdog const guard{60};
    suites::hold("advance", make, 2, [](auto& rank) {
        group world{rank.net()};
        integers v(100'000, 1);
        auto reduce = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{});
        reduce.start();
        if (rank.me() == 0) reduce.wait();
        else
            while (reduce.advance() != progress::done) std::this_thread::sleep_for(std::chrono::milliseconds{100});
        rank.check(v == integers(100'000, 2), "wrong sum");
        reduce.start();
        while (reduce.advance() != progress::done) {}
        rank.check(v == integers(100'000, 4), "wrong sum after a loop without sleep");
    });
}

TEST_CASE("NBL-6: a plan dropped under way ends the operation on its peers too, and leaves the buffer alone") {
    suites::watchdog const guard{60};
    for (std::size_t count : {1u, 131'072u})
        suites::hold(
            "dropped", make, 3,
            [&](auto& rank) {
                if (rank.me() == 2) {
                    while (!rank.net().is_aborted()) std::this_thread::yield();
                    return;
                }
                group world{rank.net()};
                auto v = std::make_unique<integers>(count, 1);
                {
                    auto reduce = plan_all_reduce(world, *v, chorus::sum{}, chorus::ring{});
                    if (rank.me() == 1)
                        return suites::expect_error(rank, errc::aborted, {"destroyed while it was under way"},
                                                    [&] { reduce.run(); });
                    reduce.start();
                    for (int i = 0; i < 100; ++i) reduce.advance();
                }
                v.reset();
                rank.check(world.is_poisoned(), "not poisoned");
                suites::expect_error(rank, errc::poisoned, {"destroyed"}, [&] { plan_barrier(world); });
            },
            suites::ending::may_abort);
}
