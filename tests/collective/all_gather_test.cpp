// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_gather.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-3, WSZ-8, ZER-1: all_gather by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::all_gather, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("all_gather of structs of 12 bytes") { check_grid<collective::all_gather, triangle, matrix_product>({1, 3, 4, 7}); }

TEST_CASE("ZER-2: all_gather of uneven blocks, some or all of them empty") { check_uneven<collective::all_gather, std::int32_t>(); }

TEST_CASE("all_gather on threads crosses the limits of message kinds") { check_threads<collective::all_gather, float>(); }
