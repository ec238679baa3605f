// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/barrier.hpp"

#include "suites/execution_suite.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace chorus;
using namespace suites;

namespace {

template <transport Transport> plan barrier_by(group<Transport> const& members, chosen const& by) {
    return by ? plan_barrier(members, *by) : plan_barrier(members);
}

/// Starts the ranks one after another, the late one last; until it has started, none may be done.
void check_late_rank(rank_id size, rank_id late, chosen const& by, simulated_options const& options) {
    INFO(name_of(by), " p=", size, " late=", late);
    simulated_network network{size, options};
    std::vector<plan> plans;
    for (rank_id r = 0; r < size; ++r) plans.push_back(barrier_by(group{network.endpoint(r)}, by));
    for (int again = 0; again < 2; ++again) {
        std::vector<plan*> started;
        for (rank_id i = 1; i < size; ++i) {
            plan& work = plans[(late + i) % size];
            work.start();
            started.push_back(&work);
            for (int turns = 0; turns < 20; ++turns)
                for (plan* other : started) CHECK(other->advance() != progress::done);
        }
        plans[late].start();
        started.push_back(&plans[late]);
        CHECK(drive(started, options.seed) == progress::done);
    }
}

}  // namespace

TEST_CASE("WSZ-1, ZER-1: a barrier by every algorithm, 1 to 17 ranks, holds everybody back until the last has come") {
    std::uint64_t turn = 0;
    for (rank_id p : sizes_up_to(17))
        for (chosen const& by : algorithms_for(collective::barrier))
            for (rank_id late : {rank_id{0}, p / 2, p - 1}) check_late_rank(p, late, by, next_options(turn));
}

TEST_CASE("a barrier on threads: all have come when one leaves, 300 times") {
    for (rank_id p : {1u, 2u, 3u, 4u})
        for (chosen const& by : algorithms_for(collective::barrier)) {
            std::atomic<std::uint64_t> came{0};
            failure_list failures;
            thread_fleet{p}.run([&](thread_transport& net) {
                plan work = barrier_by(group{net}.within(std::chrono::seconds{20}), by);
                for (std::uint64_t round = 1; round <= 300; ++round) {
                    came.fetch_add(1);
                    work.run();
                    if (came.load() < round * p) failures.add("left early in round " + std::to_string(round));
                }
            });
            INFO(name_of(by), " p=", p);
            expect_none(failures);
            CHECK(came == 300 * p);
        }
}

TEST_CASE("WSZ-7, NBL-2: a barrier on a single rank is complete; waiting again and moving do no harm") {
    for (chosen const& by : algorithms_for(collective::barrier)) {
        self_transport net;
        plan work = barrier_by(group{net}, by);
        work.start();
        CHECK(work.advance() == progress::done);
        work.wait();
        work.wait();
        plan moved = std::move(work);
        CHECK(moved.advance() == progress::done);
        moved.run();
    }
}
