// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/thread.hpp"

#include "chorus/transport/any_transport.hpp"
#include "chorus/transport/recording.hpp"
#include "suites/recovery_suite.hpp"
#include "suites/transport_loops.hpp"
#include "suites/transport_suite.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using chorus::progress;
using chorus::rank_id;
using chorus::thread_fleet;
using chorus::thread_transport;

namespace {

auto const make = [](rank_id p) { return thread_fleet{p}; };

// A fleet whose ranks see their endpoints through something else.
template <class Wrap>
struct wrapped_fleet {
    thread_fleet fleet;
    Wrap wrap;

    template <class Body>
    void run(Body const& body) const {
        fleet.run([&](thread_transport& net) {
            auto outer = wrap(net);
            body(outer);
        });
    }
};
template <class Wrap>
wrapped_fleet(thread_fleet, Wrap) -> wrapped_fleet<Wrap>;

}  // namespace

TEST_CASE("the laws of a transport hold between threads") { suites::check_transport(make); }

TEST_CASE("the laws of a transport hold through any_transport and recording_transport") {
    auto erase = [](thread_transport& net) { return chorus::any_transport{net}; };
    auto record = [](thread_transport& net) { return chorus::recording_transport{net}; };
    suites::check_transport([&](rank_id p) { return wrapped_fleet{thread_fleet{p}, erase}; }, {1, 3});
    suites::check_transport([&](rank_id p) { return wrapped_fleet{thread_fleet{p}, record}; }, {1, 3});
}

TEST_CASE("THR-1: sixteen ranks on few cores do not collapse") {
    suites::hold("1000 barriers", make, 16, [](auto& rank) {
        for (std::uint64_t number = 0; number < 1000; ++number) suites::numbered_barrier(rank, number);
    });
}

TEST_CASE("THR-2: no rank is ever more than one phase ahead") {
    std::atomic<std::uint64_t> phases[3] = {};
    suites::hold("10000 barriers", make, 3, [&](auto& rank) {
        for (std::uint64_t number = 1; number <= 10000; ++number) {
            phases[rank.me()] = number;
            suites::numbered_barrier(rank, number);
            for (auto const& phase : phases) {
                std::uint64_t const seen = phase;
                if (seen != number && seen != number + 1)
                    rank.check(false, "phase " + std::to_string(seen) + " seen in " + std::to_string(number));
            }
        }
    });
}

TEST_CASE("HUG-1: 64 ranks come together") {
    suites::hold("a barrier of 64", make, 64, [](auto& rank) { suites::numbered_barrier(rank, 1); });
}

TEST_CASE("ABT-1: another thread frees blocked ranks") {
    std::atomic<int> freed{0};
    suites::hold(
        "abort from outside", make, 3,
        [&](auto& rank) {
            if (rank.me() == 2) return;
            std::vector<std::byte> in(1);
            auto pending = rank.recv(1 - rank.me(), 1, in);
            std::jthread outside;
            if (rank.me() == 0)
                outside = std::jthread{[&] {
                    std::this_thread::sleep_for(std::chrono::milliseconds{100});
                    rank.net().abort(chorus::errc::aborted, 2, "told from outside");
                }};
            rank.check(rank.wait(pending) == progress::failed, "is not freed");
            rank.check(rank.reason().find("told from outside") != std::string::npos, "the reason is lost");
            ++freed;
        },
        suites::ending::may_abort);
    CHECK(freed == 2);
}

TEST_CASE("a rank that left is lost to whoever waits for it, but what it sent still arrives") {
    suites::hold(
        "rank 1 leaves early", make, 2,
        [](auto& rank) {
            suites::bytes const small = suites::payload(30, 1, 0, 0, 0);
            suites::bytes const middle = suites::payload(1500, 1, 0, 0, 0);
            if (rank.me() == 1) {
                auto first = rank.send(0, 1, small);
                auto second = rank.send(0, 1, middle);
                rank.finish(first, "small");
                rank.finish(second, "middle");
                return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{50});
            suites::bytes in[] = {suites::bytes(30), suites::bytes(1500), suites::bytes(1)};
            for (std::size_t i : {0u, 1u}) {
                auto pending = rank.recv(1, 1, in[i]);
                rank.finish(pending, "sent before leaving");
            }
            rank.check(in[0] == small && in[1] == middle, "wrong bytes");
            auto never = rank.recv(1, 1, in[2]);
            rank.check(rank.wait(never) == progress::failed, "waits for a rank that left");
            rank.check(rank.net().failure().code() == chorus::errc::peer_lost, "wrong code" + rank.reason());
            rank.check(rank.net().failure().peer() == 1, "wrong rank blamed" + rank.reason());
        },
        suites::ending::may_abort);
}

TEST_CASE("an exception on one rank ends all and comes out") {
    for (rank_id thrower = 0; thrower < 3; ++thrower)
        CHECK_THROWS_WITH_AS(make(3).run([&](thread_transport& net) {
            if (net.rank() == thrower) throw std::runtime_error{"out of cheese"};
            suites::failure_list ignored;
            suites::rank_of rank{net, ignored};
            std::vector<std::byte> in(1);
            auto pending = rank.recv(thrower, 1, in);
            rank.wait(pending);
        }),
                             "out of cheese", std::runtime_error);
}

TEST_CASE("threads go on without those that left") { suites::check_recovery(make, [](auto&) {}); }

TEST_CASE("a second thread inside is noticed") {
    make(1).run([](thread_transport& net) {
        CHECK(net.try_enter());
        CHECK(!net.try_enter());
        net.leave();
        CHECK(net.try_enter());
        net.leave();
    });
}

TEST_CASE("ranks see one another's records at any time; a mix of two while one is written, whole afterwards") {
    suites::hold("records", make, 2, [](auto& rank) {
        chorus::operation_record record;
        std::uint64_t last = 0;
        for (std::uint64_t i = 1; i <= 20000; ++i) {
            record.sequence = record.count = record.stream = i;
            rank.net().announce(record);
            std::uint64_t const seen = rank.net().view_of(1 - rank.me()).sequence;
            if (seen < last || seen > 20000)
                rank.check(false, "sequence " + std::to_string(seen) + " was never written");
            last = seen;
        }
        rank.meet();
        chorus::operation_record const seen = rank.net().view_of(1 - rank.me());
        rank.check(seen.sequence == 20000 && seen.count == 20000 && seen.stream == 20000,
                   "the last record is not seen");
    });
}
