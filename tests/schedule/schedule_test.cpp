// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/schedule.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

using namespace chorus;

static_assert(std::is_copy_constructible_v<schedule> && std::is_nothrow_move_constructible_v<schedule>);
static_assert(block_range{2, 3}.end() == 5);
static_assert(block_range{2, 3}.overlaps({4, 1}) && !block_range{2, 3}.overlaps({5, 1}));
static_assert(!block_range{2, 3}.overlaps({2, 3, space::scratch}));
static_assert(is_local(step_kind::copy) && is_local(step_kind::reduce) && is_local(step_kind::fold));
static_assert(!is_local(step_kind::send) && !is_local(step_kind::recv) && !is_local(step_kind::recv_reduce));

// A schedule can be made, and looked at, while compiling.
static_assert([] {
    schedule s{4};
    s.round().send(1, {0, 2}).recv_reduce(2, {2, 2}, side::left);
    return s.rounds() == 1 && s.steps().size() == 2 && s.steps()[1].from == side::left;
}());

namespace {

schedule one_of_each() {
    schedule s{4};
    block_range const slot = s.slot({0, 2});
    s.round().send(1, {0, 1}).recv(2, slot);
    s.round().recv_reduce(3, {2, 2}, side::left).reduce({0, 2}, slot, side::right).copy({3, 1}, {3, 1, space::input});
    s.round();
    s.round().fold({0, 2}, slot, 1);
    return s;
}

}  // namespace

TEST_CASE("ranges overlap exactly if they share a block of one space") {
    for (rank_id a = 0; a < 5; ++a)
        for (rank_id many = 0; many < 4; ++many)
            for (rank_id b = 0; b < 5; ++b)
                for (rank_id more = 0; more < 4; ++more) {
                    block_range const first{a, many};
                    block_range const second{b, more};
                    bool shared = false;
                    for (rank_id block = 0; block < 10; ++block)
                        shared = shared || (first.contains(block) && second.contains(block));
                    if (many > 0 && more > 0) CHECK(first.overlaps(second) == shared);
                    CHECK(first.overlaps(second) == second.overlaps(first));
                }
}

TEST_CASE("steps belong to the round that was opened last") {
    schedule const s = one_of_each();
    CHECK(s.blocks() == 4);
    CHECK(s.rounds() == 4);
    CHECK(s.steps().size() == 6);
    std::uint32_t const begins[] = {0, 2, 5, 5, 6, 6};
    for (std::uint32_t r = 0; r < 6; ++r) CHECK(s.round_begin(r) == begins[r]);
    CHECK(s.steps()[5].kind == step_kind::fold);
    CHECK(s.steps()[5].position == 1);
    CHECK(s.steps()[3].other.where == space::scratch);
}

TEST_CASE("the first step opens the first round by itself") {
    schedule s{1};
    CHECK(s.rounds() == 0);
    CHECK(s.round_begin(0) == 0);
    s.copy({0, 1}, {0, 1});
    CHECK(s.rounds() == 1);
    schedule opened{1};
    opened.round().copy({0, 1}, {0, 1});
    CHECK(s == opened);
    CHECK(schedule{}.blocks() == 1);
}

TEST_CASE("slots are numbered in the order asked for, and remember what they are as long as") {
    schedule s{8};
    for (rank_id i = 0; i < 5; ++i) CHECK(s.slot({i, 2}) == block_range{i, 1, space::scratch});
    CHECK(s.slots().size() == 5);
    CHECK(s.slots()[3] == block_range{3, 2});
}

TEST_CASE("at least one round is in flight") {
    schedule s{1};
    CHECK(s.in_flight() == 1);
    CHECK(s.set_in_flight(3).in_flight() == 3);
    CHECK(s.set_in_flight(0).in_flight() == 1);
}

TEST_CASE("schedules are equal if all of their parts are") {
    CHECK(one_of_each() == one_of_each());
    schedule other = one_of_each();
    CHECK_FALSE(other.set_in_flight(2) == one_of_each());
    other = one_of_each();
    other.slot({0, 1});
    CHECK_FALSE(other == one_of_each());
    CHECK_FALSE(other.round() == one_of_each());
    CHECK_FALSE(schedule{1} == schedule{2});
    schedule left{1};
    schedule right{1};
    CHECK(left.recv_reduce(0, {0, 1}, side::left) != right.recv_reduce(0, {0, 1}, side::right));
}

TEST_CASE("as text, one line per step under its round") {
    CHECK(to_string(one_of_each()) ==
          "round 0\n"
          "  send data[0] to 1\n"
          "  recv scratch[0] from 2\n"
          "round 1\n"
          "  recv_reduce data[2..4) left from 3\n"
          "  reduce data[0..2) right scratch[0]\n"
          "  copy data[3] = input[3]\n"
          "round 2\n"
          "round 3\n"
          "  fold data[0..2) at 1 of scratch[0]\n");
    CHECK(to_string(schedule{3}).empty());
}
