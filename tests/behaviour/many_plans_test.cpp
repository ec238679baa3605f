// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Many plans under way, begun and awaited in different orders on the ranks, in one group and in several; and what a stale message gives away.

#include "chorus/chorus.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using chorus::group;
using chorus::rank_id;

void expect(bool holds, char const* what) {
    if (!holds) throw std::runtime_error{what};
}

/// Rank 0 starts broadcasts 0, 1, 2 …; rank 1 runs them from the last to the first.
template <class Transport>
void run_in_reverse(Transport& net, std::size_t many, std::size_t count) {
    group world{net};
    std::vector<std::vector<std::int32_t>> vectors(many, std::vector<std::int32_t>(count));
    std::vector<chorus::plan> plans;
    for (std::size_t i = 0; i < many; ++i) {
        if (net.rank() == 0) vectors[i].assign(count, static_cast<std::int32_t>(i));
        plans.push_back(plan_broadcast(world, vectors[i], 0, chorus::direct{}));
    }
    if (net.rank() == 0) {
        for (auto& each : plans) each.start();
        for (auto& each : plans) each.wait();
    } else {
        for (std::size_t i = many; i-- > 0;) plans[i].run();
    }
    for (std::size_t i = 0; i < many; ++i) expect(vectors[i].back() == static_cast<std::int32_t>(i), "wrong data");
}

/// What all ranks of three come to when rank 1 believes in another root and then all meet.
template <class Call>
void expect_root_mismatch(Call const& call) {
    std::vector<std::string> ends(3);
    CHECK_THROWS_AS(chorus::thread_fleet{3}.run([&](chorus::thread_transport& net) {
        group world = group{net}.within(std::chrono::seconds{20});
        try {
            call(world, net.rank() == 1 ? 2u : 0u);
            std::vector<float> v(10, 1.0f);
            all_reduce(world, v, chorus::sum{});
            ends[net.rank()] = "no error";
        } catch (chorus::error const& thrown) {
            ends[net.rank()] = to_string(thrown.code());
            throw;
        }
    }), chorus::error);
    for (std::string const& end : ends) CHECK(end == "mismatch");
}

}  // namespace

TEST_CASE("plans are begun and awaited in opposite orders, more of them than there are chunks") {
    for (std::size_t many : {15u, 16u, 17u, 18u, 100u})
        for (std::size_t count : {1u, 1000u, 20'000u}) {
            chorus::thread_fleet{2}.run([&](auto& net) { run_in_reverse(net, many, count); });
            chorus::process_fleet{2}.run([&](auto& net) { run_in_reverse(net, many, count); });
            chorus::process_fleet{2, {.attach_from_bytes = ~std::uint64_t{0}}}.run(
                [&](auto& net) { run_in_reverse(net, many, count); });
        }
}

TEST_CASE("groups made apart help one another along") {
    chorus::thread_fleet{2}.run([](chorus::thread_transport& net) {
        group first{net, 1};
        group second{net, 2};
        std::vector<std::int32_t> v(20'000, 1);
        std::vector<std::int32_t> w(20'000, 2);
        auto p = plan_all_reduce(first, v, chorus::sum{});
        auto q = plan_all_reduce(second, w, chorus::sum{});
        p.start();
        q.start();
        if (net.rank() == 0) p.wait(), q.wait();
        else q.wait(), p.wait();
        expect(v.back() == 2 && w.back() == 4, "wrong sums");
    });
}

TEST_CASE("a peer that has taken what it needed and left is not missed") {
    chorus::thread_fleet{3}.run([](chorus::thread_transport& net) {
        group all{net, 1};
        std::vector<rank_id> const pair{0, 2};
        std::vector<float> v(20'000, net.rank() == 0 ? 7.0f : 0.0f);
        auto give = plan_broadcast(all, v, 0, chorus::direct{});
        give.start();
        if (net.rank() == 1) return give.wait();
        group two = all.subgroup(pair, 9);
        if (net.rank() == 2) std::this_thread::sleep_for(std::chrono::milliseconds{100});
        barrier(two);
        give.wait();
        expect(v.back() == 7.0f, "wrong data");
    });
}

TEST_CASE("a rank with another root is noticed even if nobody waits for it") {
    for (std::size_t count : {1u, 100u, 20'000u}) {
        expect_root_mismatch([&](auto const& world, rank_id root) {
            std::vector<float> v(count);
            broadcast(world, v, root);
        });
        expect_root_mismatch([&](auto const& world, rank_id root) {
            std::vector<float> v(count);
            reduce(world, v, root, chorus::sum{});
        });
        expect_root_mismatch([&](auto const& world, rank_id root) {
            std::vector<float> v(count);
            std::vector<float> all(3 * count);
            gather(world, v, all, root);
        });
    }
}

TEST_CASE("a plan that another one's wait helps along still keeps its deadline") {
    auto const begin = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(chorus::thread_fleet{2}.run([&](chorus::thread_transport& net) {
        group world{net};
        std::vector<float> v(10);
        std::vector<float> w(10);
        auto p = plan_all_reduce(world, v, chorus::sum{}, {}, {.deadline = std::chrono::milliseconds{200}});
        auto q = plan_all_reduce(world, w, chorus::sum{});
        if (net.rank() == 1) {
            while (!net.is_aborted() && std::chrono::steady_clock::now() < begin + std::chrono::seconds{20})
                std::this_thread::sleep_for(std::chrono::milliseconds{1});
            return;
        }
        p.start();
        q.start();
        q.wait();
    }), chorus::error);
    CHECK(std::chrono::steady_clock::now() < begin + std::chrono::seconds{10});
}

TEST_CASE("rebind refuses what making refuses") {
    chorus::thread_fleet{1}.run([](chorus::thread_transport& net) {
        group world{net};
        std::vector<float> in(8);
        std::vector<float> out(8);
        std::vector<std::uint64_t> const counts{8};
        auto exchange = plan_all_to_all_v(world, in, counts, out, counts);
        auto refuses = [&](void const* from, void* to) {
            try {
                exchange.rebind(from, to);
            } catch (chorus::error const& refused) {
                return refused.code() == chorus::errc::invalid_argument;
            }
            return false;
        };
        expect(refuses(nullptr, out.data()) && refuses(in.data(), nullptr), "null was taken");
        expect(refuses(in.data(), in.data() + 4), "overlap was taken");
        exchange.rebind(out.data(), in.data());
        exchange.run();
    });
}

TEST_CASE("two processes that claim one rank of a session are told") {
    std::string const name = "claimed-twice-" + std::to_string(::getpid());
    auto join = [&](rank_id me) {
        pid_t const child = ::fork();
        if (child != 0) return child;
        try {
            chorus::shared_memory_transport net{name, me, 3, {.join_within = std::chrono::milliseconds{2000}}};
        } catch (chorus::error const&) { ::_exit(7); }
        ::_exit(0);
    };
    for (pid_t child : {join(0), join(1), join(1)}) {
        int status = 0;
        REQUIRE(::waitpid(child, &status, 0) == child);
        CHECK(WEXITSTATUS(status) == 7);
    }
}
