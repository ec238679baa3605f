// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/recursive_doubling.hpp"

#include "suites/algorithm_suite.hpp"

#include <doctest/doctest.h>

using chorus::rank_id;

TEST_CASE("WSZ-1, WSZ-3: recursive_doubling keeps all laws of an algorithm") {
    suites::algorithm_suite(chorus::recursive_doubling{});
}

TEST_CASE("HUG-2: 4096 ranks agree in 12 rounds") {
    for (rank_id me : {rank_id{0}, rank_id{1234}, rank_id{4095}}) {
        CHECK(chorus::recursive_doubling{}.all_reduce(me, 4096).rounds() == 12);
        CHECK(chorus::recursive_doubling{}.scan(me, 4096).rounds() == 12);
    }
}
