// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/algorithms.hpp"
#include "chorus/schedule/shared_cores.hpp"

#include <doctest/doctest.h>

using namespace chorus;

namespace {

constexpr shared_core_model only_turns{.per_turn = 1, .per_message = 0, .per_chunk = 0, .per_copied_byte = 0, .per_byte = 0,
                                       .per_reduced_byte = 0};
constexpr shared_core_model only_messages{.per_turn = 0, .per_message = 1, .per_chunk = 0, .per_copied_byte = 0, .per_byte = 0,
                                          .per_reduced_byte = 0, .unevenness = 0};
constexpr shared_core_model only_bytes{.per_turn = 0, .per_message = 0, .per_chunk = 0, .per_copied_byte = 1, .handshake = 1e9,
                                       .per_byte = 1, .per_reduced_byte = 0, .unevenness = 0};
constexpr shared_core_model only_reduced{.per_turn = 0, .per_message = 0, .per_chunk = 0, .per_copied_byte = 0, .per_byte = 0,
                                         .per_reduced_byte = 1, .unevenness = 0};

}  // namespace

TEST_CASE("turns: as many as a core has ranks, in every round") {
    for (rank_id p : {2u, 5u, 8u, 16u})
        for (rank_id cores : {1u, 2u, 4u}) {
            double const turns = double(p) / cores;
            CHECK(seconds(only_turns, ring{}, collective::all_gather, p, 1e6, cores) == doctest::Approx((p - 1) * turns));
            CHECK(seconds(only_turns, direct{}, collective::broadcast, p, 1e6, cores) == doctest::Approx(turns));
            CHECK(seconds(only_turns, dissemination{}, collective::barrier, 8, 0, cores) == doctest::Approx(3 * 8.0 / cores));
        }
}

TEST_CASE("work: what all ranks receive and reduce, shared by the cores") {
    for (rank_id p : {2u, 5u, 8u})
        for (rank_id cores : {1u, 2u, 3u}) {
            double const n = 8.0 * 5 * 1000;
            CHECK(seconds(only_messages, direct{}, collective::all_to_all, p, n, cores) == doctest::Approx(double(p) * (p - 1) / cores));
            CHECK(seconds(only_messages, binomial_tree{}, collective::broadcast, p, n, cores) == doctest::Approx((p - 1.0) / cores));
            CHECK(seconds(only_bytes, ring{}, collective::all_gather, p, n, cores) == doctest::Approx(n * (p - 1) / cores));
            CHECK(seconds(only_bytes, all_pairs{}, collective::all_reduce, p, n, cores) == doctest::Approx(n * p * (p - 1) / cores));
            CHECK(seconds(only_reduced, ring{}, collective::reduce_scatter, p, n, cores) == doctest::Approx(n * (p - 1) / cores));
        }
}

TEST_CASE("the busiest core: all that one rank receives") {
    shared_core_model busiest = only_messages;
    busiest.unevenness = 1;
    for (rank_id p : {3u, 4u, 8u}) {
        CHECK(seconds(busiest, direct{}, collective::reduce, p, 1000, 2) == doctest::Approx(p - 1));
        CHECK(seconds(busiest, direct{}, collective::broadcast, p, 1000, 2) == doctest::Approx(p / 2));
    }
}

TEST_CASE("a message: the shorter way of two, never faster for more bytes, never more than twice as long for twice as many") {
    constexpr shared_core_model model{};
    double before = 0;
    for (double bytes = 1; bytes < 1e9; bytes *= 2) {
        double const time = model.message(bytes);
        CHECK(time >= before);
        CHECK(model.message(2 * bytes) <= 2 * time);
        before = time;
    }
    CHECK(model.message(1e9) < 1e9 * model.per_copied_byte);
}

TEST_CASE("of more ranks than 64 some stand for all, on all cores alike") {
    for (rank_id p : {64u, 65u, 200u, 1000u}) {
        double const time = seconds(only_messages, ring{}, collective::all_gather, p, 1e6, 4);
        CHECK(time <= double(p) * (p - 1) / 4 * 1.5);
        CHECK(time >= double(p) * (p - 1) / 4 * 0.5);
    }
}
