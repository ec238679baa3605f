// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/direct.hpp"

#include "suites/algorithm_suite.hpp"

#include <doctest/doctest.h>

TEST_CASE("WSZ-1: direct keeps all laws of an algorithm") { suites::algorithm_suite(chorus::direct{}); }
