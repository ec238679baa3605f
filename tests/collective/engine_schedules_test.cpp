// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/engine.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

using namespace chorus;
using namespace suites;

// Schedules that the listed algorithms avoid, but whose meaning is defined, so that anybody may write them.

namespace unusual {

struct without_cost {
    static constexpr bool keeps_order = true;
    cost all_reduce_cost(rank_id, double) const { return {}; }
    friend bool operator==(without_cost, without_cost) = default;
};

/// Partners exchange and reduce the same block in one round: what is sent is what it was when the round began.
struct exchange_in_place : without_cost {
    static constexpr std::string_view name = "exchange_in_place";

    schedule all_reduce(rank_id me, rank_id size) const {
        schedule s{1};
        for (rank_id distance = 1; distance < size; distance *= 2) {
            rank_id const partner = me ^ distance;
            s.round().send(partner, {0, 1}).recv_reduce(partner, {0, 1}, partner < me ? side::left : side::right);
        }
        return s;
    }
};

/// Everybody sends to everybody, and all receives of the one round are reduced into the block that is being sent.
struct crowd : without_cost {
    static constexpr std::string_view name = "crowd";

    schedule all_reduce(rank_id me, rank_id size) const {
        schedule s{1};
        s.round();
        for (rank_id p = 0; p < size; ++p)
            if (p != me) s.send(p, {0, 1});
        for (rank_id p = me; p > 0; --p) s.recv_reduce(p - 1, {0, 1}, side::left);
        for (rank_id p = me + 1; p < size; ++p) s.recv_reduce(p, {0, 1}, side::right);
        return s;
    }
};

/// Two ranks reduce one half each, then send the whole vector, of which one half is still the input.
struct half_written : without_cost {
    static constexpr std::string_view name = "half_written";

    schedule all_reduce(rank_id me, rank_id size) const {
        schedule s{2};
        if (size == 1) return s;
        rank_id const other = 1 - me;
        s.round().send(other, {other, 1}).recv_reduce(other, {me, 1}, other < me ? side::left : side::right);
        block_range const first = s.slot({0, 1});
        s.slot({1, 1});
        s.round().send(other, {0, 2}).recv(other, {first.first, 2, space::scratch});
        return s.copy({other, 1}, {first.first + other, 1, space::scratch});
    }
};

/// Copies, then reduces from what arrived, all in local steps; the vector is sent before and after it is written.
struct by_local_steps : without_cost {
    static constexpr std::string_view name = "by_local_steps";

    schedule all_reduce(rank_id me, rank_id size) const {
        schedule s{1};
        block_range const kept = s.slot({0, 1});
        block_range const arrived = s.slot({0, 1});
        s.round().copy(kept, {0, 1});
        for (rank_id i = 1; i < size; ++i) {  // the partial result of ranks 0 … i - 1 goes up the line
            s.round();
            if (me == i - 1) s.send(i, {0, 1});
            if (me == i) s.recv(i - 1, arrived).copy({0, 1}, arrived).reduce({0, 1}, kept);
        }
        s.round();
        if (me + 1 == size)
            for (rank_id p = 0; p < me; ++p) s.send(p, {0, 1});
        else s.recv(size - 1, {0, 1});
        return s;
    }
};

}  // namespace unusual

namespace {

template <class Algorithm, class Transport> void check_sizes(std::vector<rank_id> const& sizes) {
    std::vector<chosen> const by{any_algorithm{Algorithm{}}};
    std::uint64_t turn = 0;
    for (rank_id p : sizes)
        for (std::uint64_t count : {0u, 1u, 2u, 7u, 300u})
            for (int again = 0; again < 3; ++again, ++turn) {
                check_counts<collective::all_reduce, std::int32_t, sum, Transport>(p, {count}, by, turn);
                check_counts<collective::all_reduce, triangle, matrix_product, Transport>(p, {count}, by, turn);
            }
}

template <class Algorithm>
void check_everywhere(std::vector<rank_id> const& sizes, std::vector<rank_id> const& threads) {
    check_sizes<Algorithm, simulated_transport>(sizes);
    check_sizes<Algorithm, plain_transport>(sizes);
    check_threads<collective::all_reduce, float>({10, 513, 70000}, {any_algorithm{Algorithm{}}}, threads);
}

}  // namespace

using namespace unusual;

TEST_CASE("a block may be sent and reduced into in one round") {
    check_everywhere<exchange_in_place>({1, 2, 4, 8, 16}, {2, 4});
}

TEST_CASE("many receives of one round may be reduced into the block that is sent") {
    check_everywhere<crowd>({1, 2, 3, 4, 5, 8, 9}, {2, 3, 4});
}

TEST_CASE("a range may be sent of which a part is written and a part is still the input") {
    check_everywhere<half_written>({1, 2}, {2});
}

TEST_CASE("local steps run in the order listed") { check_everywhere<by_local_steps>({1, 2, 3, 5, 8}, {2, 3, 4}); }
