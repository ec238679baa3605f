// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/recursive_halving.hpp"

#include "suites/algorithm_suite.hpp"

#include <doctest/doctest.h>

TEST_CASE("WSZ-1, WSZ-6: recursive_halving keeps all laws of an algorithm") {
    suites::algorithm_suite(chorus::recursive_halving{});
}
