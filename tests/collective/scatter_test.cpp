// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/scatter.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-8, ZER-1: scatter by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::scatter, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("scatter of structs of 12 bytes") { check_grid<collective::scatter, triangle, matrix_product>({1, 3, 4, 7}); }

TEST_CASE("ZER-2: scatter of uneven blocks, some or all of them empty") { check_uneven<collective::scatter, std::int32_t>(); }

TEST_CASE("scatter on threads crosses the limits of message kinds") { check_threads<collective::scatter, float>(); }

TEST_CASE("WSZ-7, NBL-2: scatter on a single rank") { check_single_rank<collective::scatter, std::int32_t>(); }
