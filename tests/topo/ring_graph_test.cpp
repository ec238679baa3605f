// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/ring_graph.hpp"

#include "suites/graph_suite.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

using namespace chorus;
using topo::neighbours;
using topo::ring_graph;

TEST_CASE("GOS-1, GOS-2: ring_graph, both ways and one way, keeps all laws of a graph") {
    suites::graph_suite(ring_graph{}, {.is_regular = true, .largest_degree = 2});
    suites::graph_suite(ring_graph{.is_directed = true}, {.goes_both_ways = false, .is_regular = true, .largest_degree = 1});
}

TEST_CASE("ring_graph: neighbours") {
    CHECK(ring_graph{}.at(0, 0, 5) == neighbours{{1, 4}, {1, 4}});
    CHECK(ring_graph{}.at(0, 1, 2) == neighbours{{0}, {0}});
    CHECK(ring_graph{.is_directed = true}.at(0, 0, 5) == neighbours{{1}, {4}});
}

TEST_CASE("ring_graph: contraction is what its eigenvalues say") {
    for (rank_id size = 3; size <= 40; ++size) {
        CAPTURE(size);
        double known = 0;
        for (rank_id k = 1; k < size; ++k)
            known = (std::max)(known, std::abs(1 + 2 * std::cos(2 * std::numbers::pi * k / size)) / 3);
        CHECK(topo::mixing_speed_of_graph(ring_graph{}, size).contraction == doctest::Approx(known).epsilon(1e-9).scale(1));
        CHECK(topo::mixing_speed_of_graph(ring_graph{.is_directed = true}, size).contraction ==
              doctest::Approx(std::abs(std::cos(std::numbers::pi / size))).epsilon(1e-9));
    }
}
