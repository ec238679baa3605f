// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/cost.hpp"

#include <initializer_list>

#include <doctest/doctest.h>

using namespace chorus;

static_assert(cost{} == cost{.rounds = 0, .bytes_sent = 0, .bytes_reduced = 0, .scratch_bytes = 0});
static_assert(seconds(cost{}, link_model{}) == 0);

TEST_CASE("seconds are the sum of rounds, bytes and reductions, each at its price; scratch is free") {
    link_model const link{.latency = 3, .per_byte = 5, .per_reduced_byte = 7};
    for (double rounds : {0.0, 1.0, 6.0})
        for (double sent : {0.0, 2.0, 100.0})
            for (double reduced : {0.0, 4.0, 50.0}) {
                cost const c{.rounds = rounds, .bytes_sent = sent, .bytes_reduced = reduced, .scratch_bytes = 1e9};
                CHECK(seconds(c, link) == 3 * rounds + 5 * sent + 7 * reduced);
            }
}

TEST_CASE("the default link is a fast one: a microsecond, ten bytes a nanosecond") {
    CHECK(seconds({.rounds = 1}, link_model{}) == doctest::Approx(1e-6));
    CHECK(seconds({.bytes_sent = 1e10}, link_model{}) == doctest::Approx(1));
    CHECK(seconds({.bytes_reduced = 2e10}, link_model{}) == doctest::Approx(1));
}

TEST_CASE("costs are equal if all parts are") {
    cost const c{.rounds = 1, .bytes_sent = 2, .bytes_reduced = 3, .scratch_bytes = 4};
    CHECK(c == cost{1, 2, 3, 4});
    CHECK(c != cost{0, 2, 3, 4});
    CHECK(c != cost{1, 0, 3, 4});
    CHECK(c != cost{1, 2, 0, 4});
    CHECK(c != cost{1, 2, 3, 0});
}
