// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/chorus.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/ucx.hpp"
#include "suites/recovery_suite.hpp"
#include "suites/rendezvous_over.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

using chorus::progress;
using chorus::rank_id;
using chorus::ucx_options;
using chorus::ucx_transport;

namespace {

// p ranks as forked processes. This process itself never uses UCX: what it forks starts afresh.
struct ucx_processes {
    rank_id ranks;
    ucx_options options;

    template <class Body>
    void run(Body const& body) const {
        chorus::process_fleet{ranks}.run([&](chorus::shared_memory_transport& host) {
            suites::rendezvous_over meet{host};
            ucx_transport net{meet, options};
            body(net);
        });
    }
};

ucx_options const shared_memory{.transports = "posix,cma,self"};
ucx_options const loopback{.transports = "tcp", .devices = "lo"};

auto over(ucx_options const& options) {
    return [options](rank_id p) { return ucx_processes{p, options}; };
}

// Rank `victim` is killed in the middle of many all-reduces; every survivor is told whom it lost, and soon.
void check_killed(ucx_options const& options, rank_id ranks, rank_id victim, std::size_t count) {
    CAPTURE(options.transports);
    CAPTURE(count);
    suites::outcome const seen = suites::observe(over(options), ranks, [&](auto& rank) {
        chorus::group const world{rank.net()};
        std::vector<float> v(count);
        auto sum = chorus::plan_all_reduce(world, std::span{v}, chorus::sum{}, chorus::ring{}, {.deadline = std::chrono::seconds{15}});
        auto begin = std::chrono::steady_clock::now();
        try {
            for (int turn = 0; turn < 1000; ++turn) {
                if (rank.me() == victim && turn == 5) {
                    sum.start();
                    sum.advance();
                    ::raise(SIGKILL);
                }
                begin = std::chrono::steady_clock::now();
                sum.start();
                sum.wait();
            }
            rank.check(false, "nobody told it");
        } catch (chorus::error const& why) {
            rank.check(why.code() == chorus::errc::peer_lost, std::string{"wrong code: "} + why.what());
            rank.check(why.peer() == victim, std::string{"wrong rank blamed: "} + why.what());
            rank.check(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5}, "is told late");
        }
    });
    for (std::string const& text : seen.failures) FAIL_CHECK(text);
    CHECK_MESSAGE(seen.thrown.find("rank " + std::to_string(victim)) != std::string::npos, seen.thrown);
}

// An all-reduce, a child that comes and goes, a buffer written again, an all-reduce.
template <class EndChild>
void check_fork(ucx_options const& options, EndChild const& end_child) {
    CAPTURE(options.transports);
    suites::hold("fork", over(options), 3, [&](auto& rank) {
        chorus::group const world{rank.net()};
        for (std::size_t const count : {std::size_t{10}, std::size_t{300000}}) {
            std::vector<std::int64_t> v(count);
            auto sum = chorus::plan_all_reduce(world, std::span{v}, chorus::sum{}, chorus::ring{}, {.deadline = std::chrono::seconds{15}});
            for (std::int64_t turn = 0; turn < 3; ++turn) {
                pid_t child = 0;
                if (turn == 1) {
                    child = ::fork();
                    if (child == 0) end_child(rank.net());
                }
                std::iota(v.begin(), v.end(), turn);
                sum.start();
                sum.wait();
                for (std::size_t i = 0; i < count; ++i)
                    if (v[i] != 3 * (static_cast<std::int64_t>(i) + turn)) return rank.check(false, "wrong sum after a fork");
                int status = 0;
                if (child != 0) rank.check(::waitpid(child, &status, 0) == child && status == 0, "the child failed");
            }
        }
    });
}

}  // namespace

TEST_CASE("the laws of a transport hold over UCX between processes") {
    suites::check_transport(over(shared_memory), {1, 3});
    suites::check_transport(over(loopback), {1, 3});
}

TEST_CASE("HNG-2: a killed process is lost to all survivors, over shared memory and over TCP") {
    suites::watchdog const guard{120};
    for (ucx_options const& options : {shared_memory, loopback})
        for (std::size_t const count : {std::size_t{4}, std::size_t{1} << 20}) {
            check_killed(options, 4, 2, count);
            check_killed(options, 2, 0, count);
        }
}

TEST_CASE("processes go on over UCX without those that were killed") {
    suites::watchdog const guard{120};
    suites::check_recovery(over(shared_memory), [](auto&) { ::raise(SIGKILL); });
    suites::check_recovery(over(loopback), [](auto&) { ::raise(SIGKILL); });
}

TEST_CASE("FRK-3: a fork in the middle leaves the parent's buffers right, and is refused the endpoint") {
    suites::watchdog const guard{60};
    auto const leave = [](ucx_transport&) { ::_exit(0); };
    auto const exit_in_full = [](ucx_transport&) { std::exit(0); };
    auto const try_it = [](ucx_transport& net) {
        std::vector<std::byte> in(1);
        auto pending = net.post_recv(0, {1, 0}, in);
        bool const refused = net.poll(pending) == progress::failed && net.failure().code() == chorus::errc::forked;
        net.~ucx_transport();
        ::_exit(refused ? 0 : 1);
    };
    for (ucx_options const& options : {shared_memory, loopback}) {
        check_fork(options, leave);
        check_fork(options, exit_in_full);
        check_fork(options, try_it);
    }
}
