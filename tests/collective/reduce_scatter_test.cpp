// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/reduce_scatter.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-6, WSZ-8, ZER-1: reduce_scatter by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::reduce_scatter, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("reduce_scatter by every algorithm on doubles") { check_grid<collective::reduce_scatter, double>({2, 3, 5, 8, 13}); }

TEST_CASE("reduce_scatter of structs by an operation that does not commute keeps the order of ranks") {
    check_grid<collective::reduce_scatter, triangle, matrix_product>({1, 2, 3, 4, 5, 6, 7, 8, 11, 16});
}

TEST_CASE("ZER-2: reduce_scatter of uneven blocks, some or all of them empty") { check_uneven<collective::reduce_scatter, std::int32_t>(); }

TEST_CASE("reduce_scatter on threads crosses the limits of message kinds") { check_threads<collective::reduce_scatter, float>(); }
