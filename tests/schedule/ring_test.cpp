// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/ring.hpp"

#include "chorus/data/blocks.hpp"
#include "suites/algorithm_suite.hpp"

#include <doctest/doctest.h>

using chorus::rank_id;

TEST_CASE("WSZ-1, WSZ-3: ring keeps all laws of an algorithm") { suites::algorithm_suite(chorus::ring{}); }

TEST_CASE("WSZ-1: a segmented ring keeps them too, its segments under way together") {
    for (rank_id segments : {rank_id{2}, rank_id{5}})
        for (rank_id size : {1u, 2u, 3u, 4u, 5u, 7u, 8u, 12u, 31u}) {
            chorus::ring const algorithm{.segments = segments};
            suites::check_algorithm_at(algorithm, chorus::collective::all_reduce, size);
            if (size > 1) CHECK(algorithm.all_reduce(size - 1, size).in_flight() == segments);
        }
}

TEST_CASE("each segment goes the way of the whole block") {
    for (rank_id size = 2; size <= 9; ++size)
        for (rank_id me = 0; me < size; ++me) {
            chorus::schedule const whole = chorus::ring{}.all_reduce(me, size);
            chorus::schedule const cut = chorus::ring{.segments = 3}.all_reduce(me, size);
            REQUIRE(cut.rounds() == 3 * whole.rounds());
            for (std::uint32_t r = 0; r < cut.rounds(); ++r)
                for (std::uint32_t i = 0; i < 2; ++i) {
                    chorus::step const& part = cut.steps()[cut.round_begin(r) + i];
                    chorus::step const& all = whole.steps()[whole.round_begin(r / 3) + i];
                    CHECK(part.kind == all.kind);
                    CHECK(part.peer == all.peer);
                    CHECK(part.local.first == 3 * all.local.first + r % 3);
                }
        }
}

TEST_CASE("HUG-2: 4096 ranks take 2(p-1) rounds, and 100 elements belong to 100 of them") {
    chorus::schedule const s = chorus::ring{}.all_reduce(4095, 4096);
    CHECK(s.rounds() == 2 * 4095);
    auto const few = chorus::blocks::near_equal(100, s.blocks());
    rank_id owners = 0;
    for (rank_id b = 0; b < s.blocks(); ++b) owners += few.length(b) == 1 ? 1u : 0u;
    CHECK(owners == 100);
    CHECK(few.length(0, 4096) == 100);
    auto const many = chorus::blocks::near_equal(std::uint64_t{1} << 33, s.blocks());
    CHECK(many.begin(4095) + many.length(4095) == std::uint64_t{1} << 33);
}
