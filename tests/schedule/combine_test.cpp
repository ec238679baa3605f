// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/combine.hpp"

#include "chorus/schedule/direct.hpp"
#include "chorus/schedule/recursive_doubling.hpp"
#include "chorus/schedule/ring.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace chorus;

TEST_CASE("a reduce-scatter and an all-gather in sequence are the ring's all-reduce") {
    for (rank_id size = 1; size <= 17; ++size)
        for (rank_id me = 0; me < size; ++me)
            CHECK(then(ring{}.reduce_scatter(me, size), ring{}.all_gather(me, size)) == ring{}.all_reduce(me, size));
}

TEST_CASE("sequence is associative, and a schedule without rounds changes nothing") {
    for (rank_id size = 1; size <= 9; ++size) {
        schedule const a = direct{}.reduce_scatter(0, size);
        schedule const b = recursive_doubling{}.all_gather(0, size);
        schedule const c = direct{}.all_reduce(0, size);
        CHECK(then(then(a, b), c) == then(a, then(b, c)));
        CHECK(then(a, schedule{size}) == a);
        CHECK(then(schedule{size}, a) == a);
    }
    schedule const pipelined = ring{.segments = 3}.all_reduce(1, 4);
    CHECK(then(schedule{12}, pipelined).in_flight() == 3);
    CHECK(then(pipelined, pipelined).in_flight() == 1);
}

TEST_CASE("in sequence each part keeps slots of its own") {
    schedule const one = direct{}.reduce(2, 5, 2);
    schedule const both = then(one, one);
    REQUIRE(both.slots().size() == 2 * one.slots().size());
    REQUIRE(both.rounds() == 2);
    for (step const& s : both.steps()) {
        bool const second = &s >= both.steps().data() + both.round_begin(1);
        for (block_range const range : {s.local, s.other})
            if (range.where == space::scratch) CHECK((range.first >= one.slots().size()) == second);
    }
}

TEST_CASE("schedules that cut into different blocks cannot follow one another") {
    CHECK_THROWS_AS(then(schedule{2}, schedule{3}), error);
}

TEST_CASE("renumbering composes, keeps everything else, and accepts a list") {
    auto twice = [](rank_id p) { return 2 * p; };
    auto after = [](rank_id p) { return p + 5; };
    std::vector<rank_id> const list{5, 7, 9, 11, 13, 15, 17};
    schedule const s = ring{.segments = 2}.all_reduce(3, 7);
    CHECK(mapped(s, [](rank_id p) { return p; }) == s);
    CHECK(mapped(mapped(s, twice), after) == mapped(s, [&](rank_id p) { return after(twice(p)); }));
    CHECK(mapped(s, list) == mapped(mapped(s, twice), after));
    schedule const moved = mapped(s, after);
    REQUIRE(moved.steps().size() == s.steps().size());
    for (std::size_t i = 0; i < s.steps().size(); ++i) {
        CHECK(moved.steps()[i].peer == s.steps()[i].peer + 5);
        CHECK(moved.steps()[i].local == s.steps()[i].local);
    }
    schedule const local_steps = direct{}.all_to_all(0, 3);
    CHECK(mapped(local_steps, after).steps().back().peer == nobody);
}

TEST_CASE("placed blocks cover the target, in order, without gap or overlap") {
    for (rank_id cut = 1; cut <= 7; ++cut)
        for (rank_id count = cut; count <= 23; ++count) {
            schedule s{cut};
            for (rank_id b = 0; b < cut; ++b) s.send(1, {b, 1});
            s.send(1, {0, cut});
            schedule const wide = placed(s, 40, {11, count});
            CHECK(wide.blocks() == 40);
            rank_id next = 11;
            for (rank_id b = 0; b < cut; ++b) {
                block_range const part = wide.steps()[b].local;
                CHECK(part.first == next);
                CHECK(part.count >= count / cut);
                CHECK(part.count <= count / cut + 1);
                next = part.end();
            }
            CHECK(next == 11 + count);
            CHECK(wide.steps().back().local == block_range{11, count});
        }
}

TEST_CASE("placing scales slots with the blocks they hold, and nothing else in scratch") {
    schedule const s = direct{}.all_reduce(1, 4);
    schedule const wide = placed(s, 12, {0, 12});
    CHECK(placed(s, 4, {0, 4}) == s);
    REQUIRE(wide.slots().size() == s.slots().size());
    for (block_range const slot : wide.slots()) CHECK(slot.count == 3);
    for (std::size_t i = 0; i < s.steps().size(); ++i)
        if (s.steps()[i].local.where == space::scratch) CHECK(wide.steps()[i].local == s.steps()[i].local);
    CHECK_THROWS_AS(placed(s, 3, {0, 3}), error);
    CHECK_THROWS_AS(placed(s, 12, {9, 4}), error);
}

TEST_CASE("padding adds empty rounds at the end only") {
    schedule const s = ring{}.all_gather(0, 4);
    CHECK(padded(s, 2) == s);
    schedule const longer = padded(s, 9);
    CHECK(longer.rounds() == 9);
    CHECK(longer.steps() == s.steps());
    CHECK(longer.round_begin(3) == s.steps().size());
}
