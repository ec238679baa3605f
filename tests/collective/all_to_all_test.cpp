// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_to_all.hpp"

#include "chorus/collective/barrier.hpp"
#include "suites/execution_suite.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-8, ZER-1: all_to_all by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::all_to_all, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("all_to_all of structs of 12 bytes") {
    check_grid<collective::all_to_all, triangle, matrix_product>({1, 3, 4, 7});
}

TEST_CASE("ZER-2: all_to_all of uneven blocks, some or all of them empty") {
    check_uneven<collective::all_to_all, std::int32_t>();
}

TEST_CASE("all_to_all on threads crosses the limits of message kinds") {
    check_threads<collective::all_to_all, float>();
}

TEST_CASE("WSZ-7, NBL-2: all_to_all on a single rank") { check_single_rank<collective::all_to_all, std::int32_t>(); }

TEST_CASE("all_to_all refuses uneven blocks where the algorithm does not take them") {
    std::size_t refusals = 0;
    for (chosen const& by : algorithms_for(collective::all_to_all)) {
        if (!by || by->takes_uneven()) continue;
        simulated_network network{2};
        std::vector<int> const input(3);
        std::vector<int> output(3);
        std::vector<std::uint64_t> const counts{1, 2};
        try {
            plan_all_to_all_v(group{network.endpoint(0)}, input, counts, output, counts, *by);
            FAIL_CHECK(by->describe(), " accepts");
        } catch (error const& refused) {
            CHECK(refused.code() == errc::unsupported);
            ++refusals;
        }
    }
    CHECK(refusals > 0);
}

namespace {

/// Rank r sends counts(r, b) numbers to b, then all meet at a barrier that carries the iteration.
template <class Counts>
void exchange(group<thread_transport> const& members, Counts const& counts, int iteration, chosen const& by,
              failure_list& failures) {
    rank_id const me = members.rank();
    std::vector<std::uint64_t> sends;
    std::vector<std::uint64_t> receives;
    std::vector<int> input;
    std::vector<int> expected;
    auto const number = [&](rank_id from, rank_id to, std::uint64_t i) {
        return static_cast<int>(from * 10000 + to * 1000 + i) + iteration * 100000;
    };
    for (rank_id other = 0; other < members.size(); ++other) {
        sends.push_back(counts(me, other));
        receives.push_back(counts(other, me));
        for (std::uint64_t i = 0; i < sends.back(); ++i) input.push_back(number(me, other, i));
        for (std::uint64_t i = 0; i < receives.back(); ++i) expected.push_back(number(other, me, i));
    }
    std::vector<int> output(expected.size());
    if (by) all_to_all_v(members, input, sends, output, receives, *by);
    else all_to_all_v(members, input, sends, output, receives);
    barrier(members);
    if (output != expected) failures.add(name_of(by) + " in iteration " + std::to_string(iteration));
}

}  // namespace

TEST_CASE("ZER-3: ranks with nothing to send or to receive stay in step, 100 changing patterns") {
    for (chosen const& by : algorithms_for(collective::all_to_all)) {
        if (by && !by->takes_uneven()) continue;
        failure_list failures;
        thread_fleet{2}.run([&](thread_transport& net) {
            exchange(
                group{net}.within(std::chrono::seconds{20}), [](rank_id from, rank_id) { return from == 0 ? 1u : 0u; },
                0, by, failures);
        });
        thread_fleet{3}.run([&](thread_transport& net) {
            group const members = group{net}.within(std::chrono::seconds{20});
            exchange(
                members, [](rank_id from, rank_id to) { return from == 1 || to == 1 ? 0u : 4u; }, 0, by, failures);
            for (int iteration = 1; iteration <= 100; ++iteration) {
                counter_random const random{static_cast<std::uint64_t>(iteration)};
                auto const drawn_count = [&](rank_id from, rank_id to) {
                    return random.below(2 * (from * 3 + to), 2) == 0 ? 0 : random.below(2 * (from * 3 + to) + 1, 9);
                };
                exchange(members, drawn_count, iteration, by, failures);
            }
        });
        INFO(name_of(by));
        expect_none(failures);
    }
}
