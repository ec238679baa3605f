// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/rabenseifner.hpp"

#include "suites/algorithm_suite.hpp"

#include <doctest/doctest.h>

using chorus::rank_id;

TEST_CASE("WSZ-1, WSZ-6: rabenseifner keeps all laws of an algorithm") {
    suites::algorithm_suite(chorus::rabenseifner{});
}

TEST_CASE("halving needs no scratch, so a short vector cannot outgrow it") {
    for (rank_id size = 1; size <= 64; ++size)
        for (rank_id me = 0; me < size; ++me) CHECK(chorus::rabenseifner{}.all_reduce(me, size).slots().empty());
}
