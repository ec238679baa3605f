// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/group.hpp"

#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/transport/simulated.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

auto const make = [](rank_id p) { return chorus::thread_fleet{p}; };

std::vector<rank_id> reversed(rank_id p) {
    std::vector<rank_id> ranks(p);
    for (rank_id r = 0; r < p; ++r) ranks[r] = p - 1 - r;
    return ranks;
}

}  // namespace

TEST_CASE("a subgroup renumbers its members in the order given, through any depth") {
    for (rank_id p = 1; p <= 17; ++p) {
        chorus::simulated_network network{p};
        for (rank_id r = 0; r < p; ++r) {
            group world{network.endpoint(r)};
            CHECK(world.size() == p);
            CHECK(world.rank() == r);
            group const turned = world.subgroup(reversed(p));
            CHECK(turned.rank() == p - 1 - r);
            for (rank_id k = 0; k < p; ++k) CHECK(turned.world_rank(k) == p - 1 - k);
            group const back = turned.subgroup(reversed(p));
            CHECK(back.rank() == r);
            for (rank_id k = 0; k < p; ++k) CHECK(back.world_rank(k) == k);
        }
    }
}

TEST_CASE("split_into puts every rank in exactly one block of consecutive ranks") {
    for (rank_id p = 1; p <= 17; ++p) {
        for (rank_id width = 1; width <= p + 1; ++width) {
            chorus::simulated_network network{p};
            for (rank_id r = 0; r < p; ++r) {
                group const part = group{network.endpoint(r)}.split_into(width);
                rank_id const first = r / width * width;
                CHECK(part.size() == (std::min)(width, p - first));
                CHECK(part.rank() == r - first);
                for (rank_id k = 0; k < part.size(); ++k) CHECK(part.world_rank(k) == first + k);
            }
        }
    }
}

TEST_CASE("groups agree on a context with their members alone: by list, order, label and parent") {
    std::set<std::uint64_t> contexts;
    std::uint64_t made = 0;
    chorus::simulated_network network{4};
    auto note = [&](auto const& choose) {
        std::uint64_t const mine = choose(group{network.endpoint(0)}).state()->context;
        CHECK(choose(group{network.endpoint(2)}).state()->context == mine);
        contexts.insert(mine);
        CHECK(contexts.size() == ++made);
    };
    auto of = [](std::vector<rank_id> ranks, std::uint64_t label) {
        return [=](auto const& world) { return world.subgroup(ranks, label); };
    };
    note([](auto const& world) { return world; });
    for (std::uint64_t label : {0u, 1u, 2u}) {
        note(of({0, 1, 2, 3}, label));
        note(of({0, 2}, label));
        note(of({2, 0}, label));
        note(of({0, 1, 2}, label));
        note([&](auto const& world) { return world.subgroup(std::vector<rank_id>{0, 2}, label).duplicate(7); });
    }
    CHECK(group{network.endpoint(0), 1}.state()->context != group{network.endpoint(0), 2}.state()->context);
}

TEST_CASE("lists that name a rank twice, a rank that is not there, or not the caller are refused by name") {
    chorus::simulated_network network{3};
    group world{network.endpoint(1)};
    auto refused = [&](std::vector<rank_id> ranks, std::initializer_list<std::string_view> words) {
        CHECK(suites::unlike(errc::invalid_argument, words, [&] { world.subgroup(ranks); }) == "");
    };
    refused({0, 1, 0}, {"rank 1", "0 is listed twice"});
    refused({1, 3}, {"rank 1", "3 is not below 3"});
    refused({0, 2}, {"rank 1", "not among"});
    refused({}, {"rank 1", "not among"});
    CHECK(suites::unlike(errc::invalid_argument, {"rank 1", "width is 0"}, [&] { world.split_into(0); }) == "");
    CHECK(!world.is_poisoned());
}

TEST_CASE("a deadline goes with copies and subgroups, and the original keeps its own") {
    chorus::simulated_network network{2};
    group world{network.endpoint(0)};
    CHECK(world.deadline().is_for_ever());
    group const hasty = world.within(std::chrono::seconds{2});
    CHECK(world.deadline().is_for_ever());
    CHECK(hasty.deadline() == chorus::time_limit{std::chrono::seconds{2}});
    CHECK(hasty.subgroup(std::vector<rank_id>{0, 1}).deadline() == hasty.deadline());
    CHECK(hasty.split_into(1).deadline() == hasty.deadline());
    CHECK(hasty.duplicate(1).deadline() == hasty.deadline());
    CHECK(hasty.state() == world.state());
}

TEST_CASE("groups that share ranks work side by side, whatever the order of their calls") {
    suites::watchdog const guard{60};
    for (rank_id p : {2u, 3u, 5u, 8u})
        suites::hold("overlapping groups", make, p, [&](auto& rank) {
            group world{rank.net()};
            group const turned = world.subgroup(reversed(p));
            group const part = world.split_into(2);
            group const twin = world.duplicate(3);
            std::int64_t const mine = rank.me() + 1;
            std::vector<std::int64_t> a(100, mine), b(100, mine), c(100, mine), d(100, 10 * mine);
            auto in_world = plan_all_reduce(world, a, chorus::sum{});
            auto in_turned = plan_broadcast(turned, b, 0);
            auto in_part = plan_all_reduce(part, c, chorus::maximum{});
            auto in_twin = plan_all_reduce(twin, d, chorus::sum{});
            std::vector<chorus::plan*> all{&in_world, &in_turned, &in_part, &in_twin};
            for (std::size_t i = 0; i < 4; ++i) all[(i + rank.me()) % 4]->start();
            for (std::size_t i = 0; i < 4; ++i) all[(3 * i + rank.me()) % 4]->wait();
            std::int64_t const sum = std::int64_t{p} * (p + 1) / 2;
            rank.check(a == std::vector<std::int64_t>(100, sum), "world");
            rank.check(b == std::vector<std::int64_t>(100, p), "turned: the root is the last rank");
            rank.check(c == std::vector<std::int64_t>(100, (std::min)(rank.me() / 2 * 2 + 2, p)), "part");
            rank.check(d == std::vector<std::int64_t>(100, 10 * sum), "twin");
        });
}

TEST_CASE("a second group over the same ranks serves for calls in the same order, even if ranks are calls apart") {
    suites::watchdog const guard{60};
    suites::hold("fresh groups", make, 3, [](auto& rank) {
        for (std::int64_t i = 0; i < 300; ++i) {
            if (rank.me() == 2 && i % 100 == 50) std::this_thread::sleep_for(std::chrono::milliseconds{300});
            group world{rank.net()};
            std::vector<std::int64_t> v(static_cast<std::size_t>(1 + i % 7), rank.me() == 0 ? i : -1);
            broadcast(world, v, rank_id{0});
            rank.check(v == std::vector<std::int64_t>(v.size(), i), "broadcast " + std::to_string(i));
        }
    });
}

TEST_CASE("a failure poisons all copies of a group, and its text stays") {
    suites::watchdog const guard{60};
    suites::hold(
        "poison", make, 2,
        [](auto& rank) {
            group world{rank.net()};
            group const copy = world;
            std::vector<int> v(10);
            while (rank.me() == 1 && !rank.net().is_aborted()) std::this_thread::yield();
            if (rank.me() == 1) return;
            suites::expect_error(rank, errc::timed_out, {"all_reduce #0 of 10 int32 sum", "rank 1"}, [&] {
                all_reduce(world, v, chorus::sum{}, chorus::ring{}, chorus::plan_options{.deadline = std::chrono::milliseconds{50}});
            });
            rank.check(copy.is_poisoned(), "the copy is not poisoned");
            suites::expect_error(rank, errc::poisoned, {"broadcast", "timed out", "all_reduce #0"},
                                 [&] { broadcast(copy, v, rank_id{0}); });
        },
        suites::ending::may_abort);
}
