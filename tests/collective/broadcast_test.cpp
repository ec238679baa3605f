// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/broadcast.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-2, ZER-1: broadcast by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::broadcast, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("broadcast of structs of 12 bytes") { check_grid<collective::broadcast, triangle, matrix_product>({1, 3, 4, 7}); }

TEST_CASE("broadcast on threads crosses the limits of message kinds") { check_threads<collective::broadcast, float>(); }
