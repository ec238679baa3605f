// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/half_way.hpp"

#include <vector>

#include <doctest/doctest.h>

TEST_CASE("a share of the way; all of it is the average, none of it nothing") {
    std::vector<double> const average{4, -4};
    for (double share : {0.0, 0.25, 0.5, 1.0}) {
        std::vector<double> w{8, 0};
        chorus::half_way{.share = share}.merge(chorus::arrival<double>{w, average, w, {}, 2});
        CHECK(w == std::vector<double>{8 - 4 * share, -4 * share});
    }
}
