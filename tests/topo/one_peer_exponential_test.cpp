// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/one_peer_exponential.hpp"

#include "suites/graph_suite.hpp"

#include <doctest/doctest.h>

using namespace chorus;
using topo::neighbours;
using topo::one_peer_exponential;

TEST_CASE("GOS-1, GOS-2: one_peer_exponential keeps all laws of a graph") {
    suites::graph_suite(one_peer_exponential{}, {.goes_both_ways = false, .is_regular = true, .largest_degree = 1});
    suites::graph_suite(one_peer_exponential{.base = 3}, {.goes_both_ways = false, .is_regular = true, .largest_degree = 1});
}

TEST_CASE("one_peer_exponential: one distance after the other") {
    one_peer_exponential const g;
    CHECK(g.period(6) == 3);
    CHECK(g.at(0, 5, 6) == neighbours{{0}, {4}});
    CHECK(g.at(1, 5, 6) == neighbours{{1}, {3}});
    CHECK(g.at(2, 5, 6) == neighbours{{3}, {1}});
    CHECK(g.at(3, 5, 6) == g.at(0, 5, 6));
}

TEST_CASE("one_peer_exponential: the exact mean after log2 p steps, from any step on; for other p it is not exact") {
    for (rank_id d = 1; d <= 6; ++d) {
        rank_id const size = rank_id{1} << d;
        auto const matrix_at = [&](step_id step) {
            return topo::graph_matrix(one_peer_exponential{}, topo::metropolis{}, step, size);
        };
        for (step_id first = 0; first < d; ++first)
            CHECK(topo::contraction(topo::mixing_product(matrix_at, size, d, first)) == 0.0);
    }
    for (rank_id size : {3u, 5u, 6u, 7u, 9u, 12u})
        CHECK(topo::mixing_speed_of_graph(one_peer_exponential{}, size).contraction > 0.01);
}
