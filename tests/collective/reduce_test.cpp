// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/reduce.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-8, ZER-1: reduce by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::reduce, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("reduce by every algorithm on doubles") { check_grid<collective::reduce, double>({2, 3, 5, 8, 13}); }

TEST_CASE("reduce of structs by an operation that does not commute keeps the order of ranks") {
    check_grid<collective::reduce, triangle, matrix_product>({1, 2, 3, 4, 5, 6, 7, 8, 11, 16});
}

TEST_CASE("reduce on threads crosses the limits of message kinds") { check_threads<collective::reduce, float>(); }
