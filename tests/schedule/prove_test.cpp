// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/prove.hpp"

#include "chorus/schedule/direct.hpp"
#include "chorus/schedule/ring.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace chorus;

namespace {

using plans = std::vector<schedule>;

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

/// Refused, and the message holds every part.
void check_refused(plans const& ranks, claim const& said, std::vector<std::string> const& parts) {
    proof const found = prove(ranks, said);
    INFO(found.why);
    CHECK_FALSE(found.holds);
    for (std::string const& part : parts) {
        INFO("expected: ", part);
        CHECK(has(found.why, part));
    }
}

claim all_reduce() { return {.operation = collective::all_reduce}; }

/// Two ranks exchange everything: the smallest right all-reduce.
plans exchange() {
    plans ranks(2, schedule{1});
    ranks[0].round().send(1, {0, 1}).recv_reduce(1, {0, 1}, side::right);
    ranks[1].round().send(0, {0, 1}).recv_reduce(0, {0, 1}, side::left);
    return ranks;
}

plans schedules_of_direct(rank_id size) {
    return schedules_of(size, [&](rank_id me) { return direct{}.all_reduce(me, size); });
}

/// The same steps with step `index` replaced by `with`, or left out if `with` is null.
schedule changed(schedule const& plan, std::uint32_t index, step const* with) {
    schedule result{plan.blocks()};
    result.set_in_flight(plan.in_flight());
    for (block_range slot : plan.slots()) result.slot(slot);
    for (std::uint32_t r = 0; r < plan.rounds(); ++r) {
        result.round();
        for (std::uint32_t i = plan.round_begin(r); i < plan.round_begin(r + 1); ++i) {
            if (i == index && !with) continue;
            step const& s = i == index ? *with : plan.steps()[i];
            switch (s.kind) {
                case step_kind::send: result.send(s.peer, s.local); break;
                case step_kind::recv: result.recv(s.peer, s.local); break;
                case step_kind::recv_reduce: result.recv_reduce(s.peer, s.local, s.from); break;
                case step_kind::copy: result.copy(s.local, s.other); break;
                case step_kind::reduce: result.reduce(s.local, s.other, s.from); break;
                case step_kind::fold: result.fold(s.local, s.other, s.position); break;
            }
        }
    }
    return result;
}

}  // namespace

TEST_CASE("the smallest right schedules are proved") {
    CHECK(prove(exchange(), {.operation = collective::all_reduce, .keeps_order = true}).holds);
    CHECK(prove(plans{schedule{3}}, all_reduce()).holds);
    CHECK(prove(1, [](rank_id) { return schedule{1}; }, {.operation = collective::barrier}).holds);
    proof const right = prove(exchange(), all_reduce());
    CHECK(right.why.empty());
    CHECK(static_cast<bool>(right));
}

TEST_CASE("no ranks, no root, other cuts") {
    check_refused({}, all_reduce(), {"no ranks"});
    check_refused(exchange(), {.operation = collective::reduce, .root = 2}, {"root 2 of 2"});
    plans ranks = exchange();
    ranks[1] = schedule{2};
    check_refused(ranks, all_reduce(), {"rank 1", "2 blocks instead of 1"});
    check_refused(plans(2, schedule{1}), {.operation = collective::all_gather}, {"rank 0", "1 blocks instead of 2"});
    check_refused({schedule{0}}, all_reduce(), {"no blocks"});
}

TEST_CASE("a message without its other end") {
    plans ranks = exchange();
    ranks[1] = schedule{1};
    ranks[1].round().send(0, {0, 1});
    check_refused(ranks, all_reduce(), {"rank 0, round 0, step 0 (send data[0] to 1)", "no receive takes"});
    ranks[1] = schedule{1};
    ranks[1].round().recv_reduce(0, {0, 1}, side::left);
    check_refused(ranks, all_reduce(), {"rank 0, round 0, step 1 (recv_reduce data[0] from 1)", "no send meets"});
}

TEST_CASE("a wrong peer") {
    plans ranks = schedules_of_direct(3);
    step wrong = ranks[0].steps()[0];
    wrong.peer = 3;
    ranks[0] = changed(ranks[0], 0, &wrong);
    check_refused(ranks, all_reduce(), {"rank 0, round 0, step 0", "only 3 ranks"});
    wrong.peer = 2;
    ranks[0] = changed(ranks[0], 0, &wrong);
    check_refused(ranks, all_reduce(), {"rank 1", "from 0"});
}

TEST_CASE("a contribution that comes twice") {
    plans ranks = exchange();
    for (rank_id me = 0; me < 2; ++me)
        ranks[me].round().send(1 - me, {0, 1}).recv_reduce(1 - me, {0, 1}, me == 0 ? side::right : side::left);
    check_refused(ranks, all_reduce(), {"rank 0, round 1, step 1", "contributes twice to block 0"});
}

TEST_CASE("a contribution that is missing") {
    plans ranks(3, schedule{1});
    ranks[0].round().send(1, {0, 1}).recv_reduce(1, {0, 1}, side::right);
    ranks[1].round().send(0, {0, 1}).recv_reduce(0, {0, 1}, side::left);
    check_refused(ranks, all_reduce(), {"rank 0, data[0] at the end", "ranks 0-1 instead of 0-2"});
}

TEST_CASE("a wrong side is another expression, and breaks the order of ranks") {
    plans ranks = exchange();
    ranks[1] = schedule{1};
    ranks[1].round().send(0, {0, 1}).recv_reduce(0, {0, 1}, side::right);
    check_refused(ranks, all_reduce(), {"rank 1, data[0]", "than on rank 0"});
    check_refused(ranks, {.operation = collective::all_reduce, .keeps_order = true},
                  {"rank 1, round 0, step 1", "order of ranks"});
}

TEST_CASE("one accumulation is not the same bits as two combinations") {
    plans ranks(2, schedule{1});
    ranks[0].round().send(1, {0, 1}).recv_reduce(1, {0, 1}, side::right);
    block_range const slot = ranks[1].slot({0, 1});
    ranks[1].round().send(0, {0, 1}).recv(0, slot).fold({0, 1}, slot, 1);
    check_refused(ranks, all_reduce(), {"rank 1, data[0]", "than on rank 0"});
}

TEST_CASE("a cycle of waits") {
    plans ranks(3, schedule{1});
    for (rank_id me = 0; me < 3; ++me) {
        ranks[me].round().recv((me + 2) % 3, {0, 1});
        ranks[me].round().send((me + 1) % 3, {0, 1});
    }
    check_refused(ranks, all_reduce(), {"deadlock: rank 0, round 0, step 0", "rank 2, round 0", "rank 1, round 0"});
}

TEST_CASE("HNG-6: sends that rely on buffers are found") {
    claim const said{.operation = collective::all_gather};
    plans ranks(2, schedule{2});
    for (rank_id me = 0; me < 2; ++me) {
        ranks[me].round().send(1 - me, {me, 1});
        ranks[me].round().recv(1 - me, {1 - me, 1});
    }
    check_refused(ranks, said, {"deadlock unless sends are buffered", "rank 0, round 0, step 0 (send data[0] to 1)"});
    ranks[0].set_in_flight(2);  // one of the two posts its receive before its send is through
    CHECK(prove(ranks, said).holds);
}

TEST_CASE("a value read before it was written") {
    plans ranks(2, schedule{1});
    ranks[0].round().recv(1, {0, 1});
    ranks[1].round().send(0, {0, 1});
    check_refused(ranks, {.operation = collective::broadcast}, {"rank 1, round 0, step 0", "sends data[0] before"});

    plans one(1, schedule{1});
    block_range const slot = one[0].slot({0, 1});
    one[0].round().reduce({0, 1}, slot);
    check_refused(one, all_reduce(), {"rank 0, round 0, step 0 (reduce", "reads scratch[0] before"});
    one[0] = schedule{1};
    one[0].round().copy(one[0].slot({0, 1}), {0, 1});
    CHECK(prove(one, all_reduce()).holds);
}

TEST_CASE("ranges out of bounds and writes to the input") {
    plans one(1, schedule{2});
    one[0].round().copy({1, 2}, {0, 2});
    check_refused(one, all_reduce(), {"rank 0, round 0, step 0", "out of bounds"});
    one[0] = schedule{2};
    one[0].round().copy({0, 1}, {1, 1});
    check_refused(one, all_reduce(), {"differ in length"});
    one[0] = schedule{1};
    one[0].round().copy({0, 1, space::input}, {0, 1});
    check_refused(one, {.operation = collective::all_to_all}, {"writes to the input"});
    check_refused(one, all_reduce(), {"out of bounds"});
    one[0] = schedule{1};
    one[0].slot({0, 2});
    check_refused(one, all_reduce(), {"a slot as long as data[0..2)"});
}

TEST_CASE("blocks of different length at the two ends of a message") {
    plans ranks(2, schedule{2});
    ranks[0].round().send(1, {0, 1}).send(1, {1, 1});
    ranks[1].round().recv(0, {1, 1}).recv(0, {0, 1});
    check_refused(ranks, {.operation = collective::broadcast},
                  {"rank 0, round 0, step 0", "differs in length", "rank 1, round 0, step 0 (recv data[1] from 0)"});
}

TEST_CASE("an all-to-all that moves blocks through slots of equal length only") {
    plans ranks(2, schedule{2});
    for (rank_id me = 0; me < 2; ++me) {
        block_range const slot = ranks[me].slot({me, 1, space::input});
        ranks[me].round().copy({me, 1}, {me, 1, space::input}).copy(slot, {1 - me, 1, space::input});
        ranks[me].round().send(1 - me, slot).recv(1 - me, {1 - me, 1});
    }
    CHECK(prove(ranks, {.operation = collective::all_to_all, .uneven = false}).holds);
    check_refused(ranks, {.operation = collective::all_to_all, .uneven = true}, {"differ in length"});
}

TEST_CASE("rounds under way at once must not touch one another's blocks") {
    // Rank 0 passes block 0 on, then receives into it: right one round after the other, a hazard at once.
    auto make = [](std::uint32_t in_flight) {
        plans ranks(2, schedule{1});
        ranks[0].round().send(1, {0, 1});
        ranks[0].round().recv(1, {0, 1});
        block_range const slot = ranks[1].slot({0, 1});
        ranks[1].round().recv(0, slot);
        ranks[1].round().reduce({0, 1}, slot, side::left).send(0, {0, 1});
        ranks[1].round();
        ranks[0].set_in_flight(in_flight);
        return ranks;
    };
    check_refused(make(2), all_reduce(),
                  {"rank 0, round 1, step 0 (recv data[0] from 1)", "hazard", "still under way reads"});

    plans early(2, schedule{1});
    early[0].round().recv_reduce(1, {0, 1});
    early[0].round().send(1, {0, 1});
    early[1].round().send(0, {0, 1});
    early[1].round().recv(0, {0, 1});
    CHECK(prove(early, all_reduce()).holds);
    early[0].set_in_flight(2);
    check_refused(early, all_reduce(), {"rank 0, round 1, step 0 (send", "hazard", "still under way writes"});

    plans twice(2, schedule{1});
    twice[0].round().recv(1, {0, 1}).recv(1, {0, 1});
    twice[1].round().send(0, {0, 1}).send(0, {0, 1});
    check_refused(twice, all_reduce(), {"rank 0, round 0, step 1", "two messages of one round"});
}

TEST_CASE("a hazard is not hidden by a send of the same round") {
    plans ranks(2, schedule{1});
    for (rank_id me = 0; me < 2; ++me) {
        ranks[me].set_in_flight(2);
        ranks[me].round().send(1 - me, {0, 1}).recv(1 - me, ranks[me].slot({0, 1}));
        ranks[me].round().send(1 - me, {0, 1}).recv(1 - me, {0, 1});
    }
    check_refused(ranks, all_reduce(), {"rank 0, round 1, step 1", "hazard"});
}

TEST_CASE("a barrier that somebody leaves too early") {
    plans ranks(3, schedule{1});
    for (rank_id me = 0; me < 3; ++me) ranks[me].round().send((me + 1) % 3, {0, 1}).recv((me + 2) % 3, {0, 1});
    check_refused(ranks, {.operation = collective::barrier}, {"rank 0 leaves before rank 1 entered"});
    for (rank_id me = 0; me < 3; ++me) ranks[me].round().send((me + 1) % 3, {0, 1}).recv((me + 2) % 3, {0, 1});
    CHECK(prove(ranks, {.operation = collective::barrier}).holds);
    for (schedule& plan : ranks) plan.set_in_flight(2);  // the second message may leave before the first arrived
    check_refused(ranks, {.operation = collective::barrier}, {"leaves before"});
}

TEST_CASE("any step of a right schedule that is left out, or sent elsewhere, is missed") {
    for (rank_id size = 2; size <= 7; ++size) {
        for (bool use_ring : {false, true}) {
            auto make = [&](rank_id me) {
                return use_ring ? ring{}.all_reduce(me, size) : direct{}.all_reduce(me, size);
            };
            plans const right = schedules_of(size, make);
            REQUIRE(prove(right, all_reduce()).holds);
            for (rank_id me = 0; me < size; ++me)
                for (std::uint32_t i = 0; i < right[me].steps().size(); ++i) {
                    plans broken = right;
                    broken[me] = changed(right[me], i, nullptr);
                    CHECK_FALSE(prove(broken, all_reduce()).holds);
                    step other = right[me].steps()[i];
                    if (is_local(other.kind)) continue;
                    if (size > 2) {
                        do other.peer = (other.peer + 1) % size;
                        while (other.peer == me);
                        broken[me] = changed(right[me], i, &other);
                        CHECK_FALSE(prove(broken, all_reduce()).holds);
                    }
                    other = right[me].steps()[i];
                    if (other.local.where != space::data) continue;
                    other.local.first = (other.local.first + 1) % size;
                    broken[me] = changed(right[me], i, &other);
                    CHECK_FALSE(prove(broken, all_reduce()).holds);
                }
        }
    }
}

TEST_CASE("every collective demands what its table says") {
    // Schedules that do nothing are right for one rank, and for more only where nothing is demanded of anybody.
    for (collective operation : all_collectives) {
        INFO(std::string{to_string(operation)});
        for (rank_id size = 2; size <= 5; ++size) {
            plans const idle(size, schedule{has_block_per_rank(operation) ? size : 1});
            CHECK_FALSE(prove(idle, {.operation = operation}).holds);
        }
        if (operation != collective::all_to_all) CHECK(prove(plans{schedule{1}}, {.operation = operation}).holds);
    }
}

TEST_CASE("counted: sends, reductions, slots and used rounds of the busiest rank") {
    plans ranks(2, schedule{4});
    block_range const slot = ranks[0].slot({0, 3});
    ranks[0].round().send(1, {0, 2}).recv(1, slot);
    ranks[0].round().fold({0, 3}, slot, 1);
    ranks[0].round().send(1, {0, 4}).recv_reduce(1, {0, 1}).reduce({3, 1}, {3, 1});
    ranks[1].round().recv(0, {0, 2}).send(0, {0, 3});
    cost const found = counted(ranks, 400);
    CHECK(found == cost{.rounds = 2, .bytes_sent = 600, .bytes_reduced = 500, .scratch_bytes = 300});
    CHECK(counted(plans{schedule{1}}, 400) == cost{});
}
