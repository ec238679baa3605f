// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/observer.hpp"

#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using chorus::group;
using chorus::operation_counters;
using chorus::operation_record;
using chorus::operation_state;
using chorus::rank_id;

namespace {

struct note {
    bool is_start = false;
    operation_record record;
    rank_id me = 0;
    rank_id size = 0;
    operation_state outcome = operation_state::nothing;
    std::uint64_t bytes = 0;
};

class notebook final : public chorus::observer {
 public:
    notebook() { notes.reserve(1000); }
    void started(operation_record const& record, rank_id me, rank_id size) noexcept override {
        notes.push_back({.is_start = true, .record = record, .me = me, .size = size});
    }
    void ended(operation_record const& record, operation_state outcome, std::uint64_t bytes) noexcept override {
        notes.push_back({.record = record, .outcome = outcome, .bytes = bytes});
    }
    std::vector<note> notes;
};

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };
auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };

}  // namespace

TEST_CASE("every run is told when it starts and when it ends, calls included, with what was sent") {
    auto const law = [](auto& rank) {
        notebook seen;
        group plain{rank.net()};
        auto const world = plain.observed_by(seen);
        std::vector<int> v(5, 1);
        auto plan = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{});
        for (int run = 0; run < 3; ++run) plan.run();
        chorus::barrier(world);
        chorus::barrier(plain);
        rank.check(seen.notes.size() == 8, std::to_string(seen.notes.size()) + " notes, expected 8");
        for (std::size_t i = 0; i + 1 < seen.notes.size(); i += 2) {
            note const& start = seen.notes[i];
            note const& end = seen.notes[i + 1];
            bool const is_plan = i < 6;
            rank.check(start.is_start && !end.is_start, "starts and ends are mixed up");
            rank.check(start.me == rank.me() && start.size == rank.size(), "another rank or size");
            rank.check(start.record.stream == end.record.stream && start.record.run == end.record.run, "another operation ended");
            rank.check(start.record.run == (is_plan ? i / 2 + 1 : 1), "run " + std::to_string(start.record.run));
            rank.check(start.record.state == operation_state::running && end.record.state == end.outcome, "wrong state");
            rank.check(end.outcome == operation_state::done, "did not end well");
            if (is_plan) rank.check(end.bytes == plan.bytes_sent(), "other bytes");
        }
        operation_counters const& counted = plain.counters();
        rank.check(counted.started == 5 && counted.finished == 5 && counted.failed == 0, "counted wrongly");
        rank.check(counted.bytes_sent >= 3 * plan.bytes_sent(), "bytes are missing");
        rank.check(&world.counters() == &counted, "copies count apart");
    };
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 2u, 3u, 5u}) {
        suites::hold("observed", threads, p, law);
        suites::hold("observed", simulated, p, law);
    }
}

TEST_CASE("subgroups report to the same observer and count apart") {
    suites::watchdog const guard{60};
    suites::hold("subgroups", threads, 4, [](auto& rank) {
        notebook seen;
        auto const world = group{rank.net()}.observed_by(seen);
        auto const pair = world.split_into(2).duplicate(5);
        chorus::barrier(pair);
        rank.check(seen.notes.size() == 2, "not told of the subgroup's operation");
        rank.check(seen.notes.front().size == 2 && seen.notes.front().me == rank.me() % 2, "another rank or size");
        rank.check(pair.counters().finished == 1 && world.counters() == operation_counters{}, "counted in the wrong group");
    });
}

TEST_CASE("what fails and what is destroyed under way ends as failed, once") {
    suites::watchdog const guard{60};
    for (bool is_destroyed : {false, true})
        suites::hold(
            "failing", threads, 2,
            [is_destroyed](auto& rank) {
                notebook seen;
                auto const world = group{rank.net()}.observed_by(seen).within(std::chrono::milliseconds{30});
                while (rank.me() == 1 && !rank.net().is_aborted()) std::this_thread::yield();
                if (rank.me() == 1) return;
                std::vector<int> v(5, 1);
                std::optional<chorus::plan> plan = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{});
                plan->start();
                if (!is_destroyed) rank.check(suites::error_of([&] { plan->wait(); }).has_value(), "ran alone");
                plan.reset();
                rank.check(seen.notes.size() == 2, "not two notes");
                rank.check(seen.notes.back().outcome == operation_state::failed && seen.notes.back().bytes == 0, "did not fail");
                rank.check(world.counters() == operation_counters{.started = 1, .failed = 1}, "counted wrongly");
            },
            suites::ending::may_abort);
}

TEST_CASE("plans under way at once are told apart, and peers see one that is under way until all have ended") {
    suites::watchdog const guard{60};
    suites::hold("many", threads, 2, [](auto& rank) {
        notebook seen;
        auto const world = group{rank.net()}.observed_by(seen);
        std::vector<int> v(5, 1), w(6, 1);
        auto first = plan_all_reduce(world, v, chorus::sum{}, chorus::ring{});
        auto second = plan_all_reduce(world, w, chorus::sum{}, chorus::ring{});
        auto const shown = [&] { return rank.net().view_of(rank.me()); };
        first.start();
        second.start();
        second.wait();
        bool const is_first_over = seen.notes.size() == 4;
        rank.check(shown().state == (is_first_over ? operation_state::done : operation_state::running), "shows another state");
        first.wait();
        rank.check(shown().state == operation_state::done, "shows what has ended");
        rank.check(seen.notes.size() == 4, "not four notes");
    });
}
