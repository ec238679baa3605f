// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/transport/any_transport.hpp"
#include "chorus/transport/self.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace {

// Every allocation of the program through new, whoever asks.
std::atomic<std::uint64_t> allocations{0};

void* allocate(std::size_t bytes, std::size_t alignment) {
    ++allocations;
    void* const memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (memory == nullptr) throw std::bad_alloc{};
    return memory;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return allocate(bytes, alignof(std::max_align_t)); }
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t to) {
    return allocate(bytes, static_cast<std::size_t>(to));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t to) {
    return allocate(bytes, static_cast<std::size_t>(to));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

using chorus::group;
using chorus::rank_id;
using integers = std::vector<std::int64_t>;

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };
auto const processes = [](rank_id p) { return chorus::process_fleet{p}; };

// Runs the plan some times; then, between two barriers of all ranks, many times more, and tells how often memory was
// taken by any rank of the program.
std::uint64_t taken_by(chorus::plan& measured, chorus::plan& meet, int runs) {
    for (int i = 0; i < 50; ++i) measured.run();
    meet.run();
    meet.run();
    std::uint64_t const before = allocations;
    meet.run();
    for (int i = 0; i < runs; ++i) measured.run();
    meet.run();
    std::uint64_t const taken = allocations - before;
    meet.run();
    return taken;
}

template <class Net, class Check>
void check_plans(Net& net, int runs, Check const& check) {
    group world{net};
    auto meet = plan_barrier(world, chorus::dissemination{});
    auto with = [&](auto const& algorithm, std::size_t count) {
        integers v(count);
        auto sum = plan_all_reduce(world, v, chorus::sum{}, algorithm);
        check(taken_by(sum, meet, runs), sum.describe());
    };
    for (std::size_t count : {1u, 1000u, 50'000u}) {
        if (count > 1) runs = (runs + 99) / 100;
        with(chorus::automatic{}, count);
        with(chorus::ring{.segments = 2}, count);
        with(chorus::recursive_doubling{}, count);
        with(chorus::rabenseifner{}, count);
        with(chorus::all_pairs{}, count);
        with(chorus::binomial_tree{}, count);
    }
    integers one(5);
    integers all(5 * net.size());
    auto gather = plan_all_gather(world, one, all, chorus::bruck{});
    check(taken_by(gather, meet, runs), gather.describe());
    auto tell = plan_broadcast(world, all, rank_id{0}, chorus::chain{});
    check(taken_by(tell, meet, runs), tell.describe());
}

template <class Fleet>
void check_fleet(Fleet const& make, rank_id p, int runs) {
    suites::hold("memory", make, p, [&](auto& rank) {
        check_plans(rank.net(), runs, [&](std::uint64_t taken, std::string const& what) {
            rank.check(taken == 0, std::to_string(taken) + " allocations in " + what);
        });
    });
}

}  // namespace

TEST_CASE("MEM-1: starting, advancing and waiting take no memory, whatever the algorithm") {
    suites::watchdog const guard{100};
    std::uint64_t const before = allocations;
    ::operator delete(::operator new(8));  // is counted
    CHECK(allocations > before);
    for (rank_id p : {2u, 3u, 4u}) check_fleet(threads, p, 300);
    check_fleet(processes, 2, 300);
}

TEST_CASE("MEM-1: sums of 8 bytes without end take no memory") {
    suites::watchdog const guard{100};
    for (rank_id p : {1u, 2u})
        suites::hold("sums", threads, p, [&](auto& rank) {
            group world{rank.net()};
            auto meet = plan_barrier(world);
            integers v(1);
            auto sum = plan_all_reduce(world, v, chorus::sum{});
            std::uint64_t const taken = taken_by(sum, meet, p == 1 ? 100'000 : 30'000);
            rank.check(taken == 0, std::to_string(taken) + " allocations");
        });
}

TEST_CASE("MEM-1: neither does a plan over any_transport") {
    suites::watchdog const guard{100};
    suites::hold("any", threads, 2, [&](auto& rank) {
        chorus::any_transport erased{rank.net()};
        check_plans(erased, 100, [&](std::uint64_t taken, std::string const& what) {
            rank.check(taken == 0, std::to_string(taken) + " allocations in " + what);
        });
    });
}

TEST_CASE("MEM-1: blocking calls give back what they take") {
    suites::watchdog const guard{100};
    for (rank_id p : {1u, 2u})
        suites::hold("blocking", threads, p, [&](auto& rank) {
            group world{rank.net()};
            integers v(1);
            std::uint64_t per_call[2] = {};
            for (std::uint64_t& taken : per_call) {
                for (int i = 0; i < 10; ++i) all_reduce(world, v, chorus::sum{});
                chorus::barrier(world);
                std::uint64_t const before = allocations;
                chorus::barrier(world);
                for (int i = 0; i < 1000; ++i) all_reduce(world, v, chorus::sum{});
                chorus::barrier(world);
                taken = (allocations - before) / 1000;
            }
            rank.check(per_call[1] <= per_call[0], "the number of allocations per call grows");
        });
}
