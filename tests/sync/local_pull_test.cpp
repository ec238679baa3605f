// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/local_pull.hpp"

#include <cmath>
#include <span>
#include <vector>

#include <doctest/doctest.h>

TEST_CASE("probability 0 never pulls and leaves the rate alone, so it is DiLoCo to the bit") {
    chorus::local_pull const never{.probability = 0};
    for (chorus::step_id t = 0; t < 1000; ++t) CHECK_FALSE(never.is_due(t, 3));
    CHECK(never.local_rate(0.1) == 0.1);
}

TEST_CASE("the coin is fair, and each rank's own") {
    chorus::local_pull const pull{.probability = 0.25, .seed = 5};
    int both = 0, first = 0, second = 0;
    for (chorus::step_id t = 0; t < 40000; ++t) {
        bool const a = pull.is_due(t, 0), b = pull.is_due(t, 1);
        first += a;
        second += b;
        both += a && b;
    }
    CHECK(std::abs(first - 10000) < 500);
    CHECK(std::abs(second - 10000) < 500);
    CHECK(std::abs(both - 2500) < 300);
}

TEST_CASE("in the mean a pull moves as far as a step towards the synced model with the rate times the strength") {
    std::vector<double> w{8, 0};
    std::vector<double> const z{0, 0};
    chorus::local_pull const pull{.probability = 0.5, .strength = 0.25};
    pull.apply(std::span{w}, std::span<double const>{z}, 0.5);
    CHECK(w == std::vector<double>{6, 0});  // 8 - (0.5 * 0.25 / 0.5) * 8
}
