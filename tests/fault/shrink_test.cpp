// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/fault/shrink.hpp"

#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/loopback_wire.hpp"
#include "suites/transport_suite.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

auto const threads = [](rank_id p) { return chorus::thread_fleet{p}; };
auto const processes = [](rank_id p) { return chorus::process_fleet{p}; };
auto const network = [](rank_id p) { return suites::loopback_fleet{p}; };
auto const leave = [](auto&) {};
auto const be_killed = [](auto&) { ::raise(SIGKILL); };
auto const fall_silent = [](auto& net) { net.net().die(); };

/// All-reduce and all-gather of world ranks among the members.
template <class Net>
void check_group(suites::rank_of<Net>& rank, group<Net> const& members, std::vector<rank_id> const& expected) {
    std::vector<std::uint64_t> sum(1000, rank.me() + 1);
    chorus::all_reduce(members, sum, chorus::sum{});
    std::uint64_t const total = std::accumulate(expected.begin(), expected.end(), std::uint64_t{expected.size()});
    rank.check(sum == std::vector<std::uint64_t>(1000, total), "wrong sum " + std::to_string(sum[0]));
    std::vector<rank_id> const mine{rank.me()};
    std::vector<rank_id> all(members.size());
    chorus::all_gather(members, mine, all);
    rank.check(all == expected, "other members, or in another order");
}

/// One after the other the victims die before an all-reduce that the others are in.
template <class Make, class Die>
void check_shrink(Make const& make, Die const& die, rank_id ranks, std::vector<rank_id> const& victims) {
    suites::outcome const seen = suites::observe(make, ranks, [&](auto& rank) {
        auto members = group{rank.net()}.within(std::chrono::seconds{20});
        std::vector<rank_id> alive(ranks);
        std::iota(alive.begin(), alive.end(), 0u);
        for (rank_id victim : victims) {
            check_group(rank, members, alive);
            // Nobody dies before all are through: the victim hears from everybody, the others only from it.
            std::vector<int> once(1, 1);
            auto const root = static_cast<rank_id>(std::find(alive.begin(), alive.end(), victim) - alive.begin());
            chorus::reduce(members, once, root, chorus::sum{});
            if (rank.me() == victim) return die(rank.net());
            std::erase(alive, victim);
            std::vector<double> v(5000, 1.0);
            auto other = chorus::plan_all_reduce(members, v, chorus::sum{});
            auto waited = chorus::plan_all_reduce(members, std::span{v}.subspan(1), chorus::sum{});
            bool failed = false;
            bool has_started = false;  // not, if another rank has noticed the loss before
            try {
                other.start();
                has_started = true;
                waited.run();
            } catch (chorus::error const&) { failed = true; }
            rank.check(failed, "succeeds without a member");
            members = shrink(members);
            rank.check(!members.is_poisoned() && members.size() == alive.size(), "is not usable");
            bool stays_failed = false;
            try {
                other.wait();
            } catch (chorus::error const&) { stays_failed = true; }
            rank.check(stays_failed || !has_started, "a plan of before succeeds");
        }
        check_group(rank, members, alive);
    });
    for (std::string const& text : seen.failures) FAIL_CHECK(text);
}

}  // namespace

TEST_CASE("a group goes on with its survivors: threads") {
    check_shrink(threads, leave, 2, {0});
    check_shrink(threads, leave, 3, {1});
    check_shrink(threads, leave, 5, {4, 0, 2});
}

TEST_CASE("a group goes on with its survivors: processes") {
    check_shrink(processes, be_killed, 2, {1});
    check_shrink(processes, be_killed, 3, {0, 2});
    check_shrink(processes, be_killed, 4, {2});
}

TEST_CASE("a group goes on with its survivors: a network") {
    check_shrink(network, fall_silent, 2, {0});
    check_shrink(network, fall_silent, 4, {3, 0});
}

TEST_CASE("every subgroup shrinks by its own losses, in its own order") {
    suites::outcome const seen = suites::observe(threads, 6, [](auto& rank) {
        group const world{rank.net()};
        std::vector<rank_id> mine = rank.me() % 2 == 0 ? std::vector<rank_id>{4, 0, 2} : std::vector<rank_id>{5, 3, 1};
        auto const members = world.subgroup(mine).within(std::chrono::seconds{20});
        check_group(rank, members, mine);
        std::vector<int> once(1, 1);
        chorus::reduce(world, once, 0, chorus::sum{});
        if (rank.me() == 0) return;
        bool failed = false;
        try {  // the other group would not notice; it is told by the next operation of all
            std::vector<int> v(10, 1);
            chorus::all_reduce(world, v, chorus::sum{});
        } catch (chorus::error const&) { failed = true; }
        rank.check(failed, "succeeds without rank 0");
        std::erase(mine, 0u);
        check_group(rank, shrink(members), mine);
    });
    for (std::string const& text : seen.failures) FAIL_CHECK(text);
}

TEST_CASE("a rank that does not come in time is left behind and told so") {
    suites::outcome const seen = suites::observe(threads, 3, [](auto& rank) {
        group const world{rank.net()};
        std::vector<int> once(1, 1);
        chorus::reduce(world, once, 0, chorus::sum{});  // rank 0 is the last to be through
        if (rank.me() == 0) rank.net().abort(errc::aborted, 0, "on purpose");
        while (!rank.net().is_aborted()) std::this_thread::yield();
        if (rank.me() == 2) {
            std::this_thread::sleep_for(std::chrono::milliseconds{700});
            errc code = errc::unsupported;
            try {
                shrink(world, std::chrono::milliseconds{200});
            } catch (chorus::error const& failure) { code = failure.code(); }
            rank.check(code == errc::peer_lost, "is not told that it was left behind");
            return;
        }
        check_group(rank, shrink(world, std::chrono::milliseconds{200}), {0, 1});
    });
    for (std::string const& text : seen.failures) FAIL_CHECK(text);
}
