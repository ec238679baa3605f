// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/ucx.hpp"

#include "chorus/chorus.hpp"
#include "suites/recovery_suite.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <time.h>

#include <doctest/doctest.h>

using chorus::rank_id;
using chorus::ucx_fleet;
using chorus::ucx_options;
using chorus::ucx_transport;

namespace {

ucx_options const shared_memory{.transports = "posix,cma,self"};
ucx_options const loopback{.transports = "tcp", .devices = "lo"};

}  // namespace

TEST_CASE("the laws of a transport hold over UCX through shared memory") {
    suites::check_transport([](rank_id p) { return ucx_fleet{p, shared_memory}; });
}

TEST_CASE("the laws of a transport hold over UCX through TCP") {
    suites::check_transport([](rank_id p) { return ucx_fleet{p, loopback}; });
}

TEST_CASE("threads go on over UCX without those that left") {
    suites::watchdog const guard{60};
    for (ucx_options const& options : {shared_memory, loopback})
        suites::check_recovery([&](rank_id p) { return ucx_fleet{p, options}; }, [](auto&) {});
}

TEST_CASE("buffers are registered once per plan, and never while it runs") {
    for (ucx_options const& options : {shared_memory, loopback})
        suites::hold("registrations", [&](rank_id p) { return ucx_fleet{p, options}; }, 3, [](auto& rank) {
            chorus::group const world{rank.net()};
            std::vector<std::int32_t> v(100'000);
            std::vector<std::int32_t> other(v.size());
            auto sum = chorus::plan_all_reduce(world, std::span{v}, chorus::sum{}, chorus::ring{});
            std::uint64_t const made = rank.net().pins_made();
            rank.check(made >= 1, "nothing is registered");
            for (std::int32_t turn = 0; turn < 20; ++turn) {
                v.assign(v.size(), turn);
                sum.start();
                sum.wait();
                rank.check(v.front() == 3 * turn && v.back() == 3 * turn, "wrong sum");
            }
            rank.check(rank.net().pins_made() == made, "something is registered while the plan runs");
            sum.rebind(other.data());
            rank.check(rank.net().pins_made() == 2 * made, "a new buffer is not registered");
            std::vector<std::int32_t> few(10);
            auto little = chorus::plan_all_reduce(world, std::span{few}, chorus::sum{}, chorus::ring{});
            rank.check(rank.net().pins_made() == 2 * made, "what is copied anyway is registered");
        });
}

TEST_CASE("a registration may outlive its transport") {
    suites::hold("outlives", [](rank_id p) { return ucx_fleet{p, shared_memory}; }, 2, [](auto& rank) {
        std::vector<std::byte> memory(100'000);
        chorus::ucx_pin kept;
        {
            auto meetings = chorus::thread_rendezvous::of(1);
            ucx_transport net{meetings[0], shared_memory};
            kept = net.pin(memory);
            rank.check(net.pins_made() == 1, "it is not registered");
        }
        kept = {};
    });
}

TEST_CASE("it says what UCX chose") {
    suites::hold("shared memory", [](rank_id p) { return ucx_fleet{p, shared_memory}; }, 3, [](auto& rank) {
        std::string const text = rank.net().describe();
        rank.check(text.find("posix") != std::string::npos && text.find(rank.me() == 0 ? "1 2" : "0") != std::string::npos, text);
        rank.meet();
    });
    suites::hold("TCP", [](rank_id p) { return ucx_fleet{p, loopback}; }, 3, [](auto& rank) {
        rank.check(rank.net().describe().find("tcp/lo") != std::string::npos, rank.net().describe());
        rank.meet();
    });
}

TEST_CASE("settings that UCX does not take are refused") {
    auto const refused = [](ucx_options const& options) -> std::string {
        chorus::self_rendezvous alone;
        try {
            ucx_transport const net{alone, options};
        } catch (chorus::error const& why) {
            return why.what();
        }
        return "";
    };
    CHECK(refused({.transports = "posix,self"}).empty());
    CHECK(refused({.settings = {{"RNDV_THRESH", "a lot"}}}).find("RNDV_THRESH") != std::string::npos);
    CHECK(refused({.transports = "no_such_transport"}).find("UCX says") != std::string::npos);
}

TEST_CASE("a rank that never comes is named") {
    suites::watchdog const guard{30};
    std::string told;
    auto meetings = chorus::thread_rendezvous::of(2, std::chrono::milliseconds{300});
    try {
        ucx_transport const net{meetings[0], shared_memory};
    } catch (chorus::error const& why) {
        told = why.what();
        CHECK(why.code() == chorus::errc::timed_out);
    }
    CHECK_MESSAGE(told.find('1') != std::string::npos, told);
}

TEST_CASE("an idle rank sleeps") {
    suites::hold("idle", [](rank_id p) { return ucx_fleet{p, shared_memory}; }, 2, [](auto& rank) {
        suites::bytes in(8);
        suites::bytes const out(8);
        rank.meet();
        if (rank.me() == 0) {
            std::this_thread::sleep_for(std::chrono::milliseconds{400});
            auto sent = rank.send(1, 3, out);
            return rank.finish(sent, "wakes the other");
        }
        timespec begin{};
        timespec end{};
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
        auto pending = rank.recv(0, 3, in);
        rank.finish(pending, "is woken");
        ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
        auto const milliseconds = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1'000'000;
        rank.check(milliseconds < 200, "burnt " + std::to_string(milliseconds) + " ms of 400 ms");
    });
}
