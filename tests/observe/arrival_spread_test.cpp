// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/observe/arrival_spread.hpp"

#include "chorus/chorus.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/watchdog.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/mman.h>

#include <doctest/doctest.h>

using chorus::arrival_report;
using chorus::arrival_spread;
using chorus::rank_id;
using std::chrono::milliseconds;

namespace {

void expect(bool holds, std::string const& what) {
    if (!holds) throw std::runtime_error{what};
}

/// A number that threads, and processes forked later, share.
class shared_number {
 public:
    shared_number()
        : at_{::mmap(nullptr, sizeof(number), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)} {
        expect(at_ != MAP_FAILED, "mmap");
        new (at_) number{0};
    }
    shared_number(shared_number const&) = delete;
    shared_number& operator=(shared_number const&) = delete;
    ~shared_number() { ::munmap(at_, sizeof(number)); }

    void count() { ++value(); }
    void await(std::uint64_t least) {
        while (value() < least) std::this_thread::sleep_for(milliseconds{1});
    }

 private:
    using number = std::atomic<std::uint64_t>;
    number& value() { return *static_cast<number*>(at_); }

    void* at_;
};

/// The one that is slow enters long after the others have.
void run_as(bool is_slow, chorus::plan& operation, shared_number& entered, std::uint64_t others) {
    if (is_slow) {
        entered.await(others);
        std::this_thread::sleep_for(milliseconds{20});
    }
    operation.start();
    if (!is_slow) entered.count();
    operation.wait();
}

/// Every second operation is on two ranks, of which the slow one may be one.
void check_blame(auto fleet, rank_id size, rank_id slow) {
    shared_number entered;
    bool const is_paired = (slow ^ 1u) < size;
    fleet.run([&](auto& net) {
        arrival_spread spread;
        chorus::group const world = chorus::group{net}.observed_by(spread);
        std::vector<std::int32_t> v(10);
        chorus::plan sum = chorus::plan_all_reduce(world, std::span{v}, chorus::sum{});
        chorus::plan small = chorus::plan_barrier(world.split_into(2));
        bool const is_slow = net.rank() == slow;
        std::uint64_t const others = size - 1;
        constexpr std::uint64_t turns = 8;
        for (std::uint64_t i = 0; i < turns; ++i) {
            run_as(is_slow, sum, entered, (2 * i + 1) * others);
            run_as(is_slow, small, entered, (2 * i + 2) * others);
        }
        arrival_report const report = spread.collect(world, milliseconds{10});
        if (net.rank() != 0) return expect(report.operations.empty() && report.blamed.empty(), "only rank 0 has a report");
        std::string const text = report.describe();
        expect(report.operations.size() == turns * (1 + (size + 1) / 2) && report.incomplete == 0, text);
        auto const found = std::find_if(report.blamed.begin(), report.blamed.end(), [&](auto const& b) { return b.rank == slow; });
        expect(found != report.blamed.end() && found->times == turns * (is_paired ? 2 : 1), text);
        expect(found->waited >= turns * milliseconds{19} * (others + (is_paired ? 1 : 0)), text);
        expect(text.find("\nrank " + std::to_string(slow) + " was last ") != std::string::npos, text);
    });
}

}  // namespace

TEST_CASE("a rank made slow on purpose is blamed, on threads and between processes") {
    suites::watchdog const guard{30};
    check_blame(chorus::thread_fleet{4}, 4, 2);
    check_blame(chorus::thread_fleet{3}, 3, 0);
    check_blame(chorus::thread_fleet{3}, 3, 2);
    check_blame(chorus::process_fleet{3}, 3, 1);
}

TEST_CASE("uneven numbers of operations, more than are kept, and none at all") {
    suites::watchdog const guard{20};
    chorus::thread_fleet{3}.run([](auto& net) {
        arrival_spread spread{8};
        chorus::group const world = chorus::group{net}.observed_by(spread);
        arrival_report const nothing = spread.collect(world);
        expect(nothing.operations.empty() && nothing.incomplete == 0 && nothing.overwritten == 0, "something out of nothing");
        chorus::barrier(world.split_into(2));
        if (net.rank() == 2) chorus::barrier(world.split_into(1, 7));
        arrival_report const uneven = spread.collect(world);
        if (net.rank() == 0) expect(uneven.operations.size() == 3 && uneven.incomplete == 0, uneven.describe());
        spread.clear();
        for (int i = 0; i < 12; ++i) chorus::barrier(world);
        if (net.rank() == 1) spread.clear();
        chorus::barrier(world);
        arrival_report const late = spread.collect(world);
        if (net.rank() == 0) {
            expect(late.operations.size() == 1 && late.incomplete == 7, late.describe());
            expect(late.overwritten == 2 * 5, late.describe());
            expect(late.operations[0].operation == "barrier" && late.operations[0].sequence == 12, late.describe());
        }
        expect(spread.size() == (net.rank() == 1 ? 1 : 8), "collecting is observed");
    });
}

TEST_CASE("one rank waits for nobody") {
    chorus::self_transport net;
    arrival_spread spread;
    chorus::group const world = chorus::group{net}.observed_by(spread);
    for (int i = 0; i < 5; ++i) chorus::barrier(world);
    arrival_report const report = spread.collect(world);
    CHECK(report.operations.size() == 5);
    CHECK(report.blamed.empty());
    CHECK(report.clock_error.count() == 0);
    for (auto const& one : report.operations) {
        CHECK(one.spread.count() == 0);
        CHECK(one.waited.count() == 0);
        CHECK(one.last == 0);
    }
}

TEST_CASE("ranks are those of the group that collects") {
    suites::watchdog const guard{20};
    shared_number entered;
    chorus::thread_fleet{4}.run([&](auto& net) {
        if (net.rank() == 0) return;
        arrival_spread spread;
        std::vector<rank_id> const backwards{3, 2, 1};
        chorus::group const some = chorus::group{net}.observed_by(spread).subgroup(backwards);
        chorus::plan meet = chorus::plan_barrier(some);
        run_as(net.rank() == 1, meet, entered, 2);
        arrival_report const report = spread.collect(some);
        if (some.rank() != 0) return;
        expect(report.operations.size() == 1 && report.operations[0].last == 2, report.describe());
    });
}
