// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/take_arrived.hpp"

#include <vector>

#include <doctest/doctest.h>

TEST_CASE("the average replaces the values, also where it was made in their memory") {
    std::vector<float> w{1, 2}, average{3, 4};
    chorus::take_arrived{}.merge(chorus::arrival<float>{w, average, w, {}});
    CHECK(w == average);
    chorus::take_arrived{}.merge(chorus::arrival<float>{w, w, w, {}});
    CHECK(w == average);
}
