// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/clock_board.hpp"

#include "chorus/transport/simulated.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;
using chorus::simulated_network;
using chorus::step_id;
using board = chorus::clock_board<chorus::simulated_transport>;

namespace {

std::vector<board> boards_on(simulated_network& network) {
    std::vector<board> boards;
    for (rank_id r = 0; r < network.size(); ++r) boards.emplace_back(group{network.endpoint(r)});
    return boards;
}

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };

}  // namespace

TEST_CASE("what is known of a clock is never ahead of it, never goes back, and comes to be right, at any size and order of arrival") {
    for (rank_id p = 1; p <= 17; ++p)
        for (bool rendezvous : {false, true}) {
            simulated_network network{p, {.seed = p, .delay = 20, .rendezvous = rendezvous}};
            auto boards = boards_on(network);
            chorus::counter_random const random{p};
            std::vector<std::vector<step_id>> before(p, std::vector<step_id>(p, 0));
            bool is_right = true;
            auto look = [&](rank_id me) {
                for (rank_id r = 0; r < p; ++r) {
                    step_id const known = boards[me].of(r);
                    is_right = is_right && known >= before[me][r] && known <= boards[r].mine();
                    before[me][r] = known;
                }
            };
            for (std::uint64_t turn = 0; turn < 200u * p; ++turn) {
                auto const me = static_cast<rank_id>(random.below(2 * turn, p));
                if (random.below(2 * turn + 1, 3) == 0 && me % 3 != 2) boards[me].tick();  // every third rank only listens
                else boards[me].advance();
                look(me);
            }
            CHECK(is_right);
            for (int turn = 0; turn < 300; ++turn)
                for (board& b : boards) b.advance();
            for (rank_id me = 0; me < p; ++me)
                for (rank_id r = 0; r < p; ++r) CHECK(boards[me].of(r) == boards[r].mine());
            CHECK(boards[0].slowest() == (p < 3 ? (std::min)(boards[0].mine(), boards[p - 1].mine()) : 0));
        }
}

TEST_CASE("who never reads holds up nobody and costs no more than two messages") {
    simulated_network network{3, {.seed = 4}};
    auto boards = boards_on(network);
    for (int t = 0; t < 1000; ++t) {
        boards[0].tick();
        boards[1].tick();
    }
    CHECK(boards[0].of(1) > 900);
    CHECK(boards[1].of(0) > 900);
    std::uint64_t const before = network.messages();
    for (int t = 0; t < 50; ++t) boards[0].advance();
    CHECK(network.messages() - before <= 2);
    boards[2].advance();  // two that wait for it are old, the one after them is not
    for (int t = 0; t < 20; ++t)
        for (board& b : boards) b.advance();
    CHECK(boards[2].of(0) == 1000);
    CHECK(boards[2].of(1) == 1000);
}

TEST_CASE("closed, all know the last clock of all; between threads as well") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 2u, 3u, 5u})
        suites::hold("threads", threads, p, [&](auto& rank) {
            auto const world = group{rank.net()}.within(std::chrono::seconds{20});
            chorus::clock_board clocks{world};
            for (rank_id t = 0; t < 100 * (rank.me() + 1); ++t) clocks.tick();
            clocks.wait_until([&] { return clocks.slowest() >= 100; }, [&] { return chorus::nobody; });
            clocks.close();
            for (rank_id r = 0; r < p; ++r) rank.check(clocks.of(r) == 100 * (r + 1), "rank " + std::to_string(r) + ": " + std::to_string(clocks.of(r)));
            clocks.close();  // once more does nothing
            std::vector<float> v(10, 1.0f);
            chorus::clock_board second{world};  // the streams of the first are not its own
            second.tick();
            second.close();
            rank.check(second.slowest() == 1, "the second");
        });
}

TEST_CASE("a deadline names the rank that is late; what is destroyed open ends the others") {
    suites::watchdog const guard{60};
    suites::hold("late", threads, 3, [](auto& rank) {
        auto const world = group{rank.net()}.within(std::chrono::milliseconds{200});
        chorus::clock_board clocks{world};
        if (rank.me() != 1) clocks.tick();
        auto const wrong = suites::error_of([&] {
            clocks.wait_until([&] { return clocks.slowest() >= 1; }, [] { return rank_id{1}; });
        });
        rank.check(wrong && (wrong->code() == errc::timed_out || wrong->code() == errc::aborted), wrong ? wrong->what() : "no error");
        rank.check(wrong && wrong->peer() == 1 && std::string{wrong->what()}.find("waits for rank 1 at 0") != std::string::npos, wrong ? wrong->what() : "");
        rank.check(world.is_poisoned(), "the group goes on");
    }, suites::ending::may_abort);
    suites::hold("open", threads, 3, [](auto& rank) {
        auto const world = group{rank.net()}.within(std::chrono::seconds{10});
        chorus::clock_board clocks{world};
        if (rank.me() == 2) return;
        suites::expect_error(rank, errc::aborted, {"clock board on rank 2", "before it was closed"}, [&] { clocks.close(); });
    }, suites::ending::may_abort);
}
