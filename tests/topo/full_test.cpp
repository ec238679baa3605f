// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/full.hpp"

#include "suites/graph_suite.hpp"

#include <doctest/doctest.h>

using namespace chorus;
using topo::full;

TEST_CASE("GOS-1, GOS-2: full keeps all laws of a graph") {
    suites::graph_suite(full{}, {.is_regular = true, .largest_degree = 16});
}

TEST_CASE("full: the exact mean in one step") {
    for (rank_id size = 1; size <= 40; ++size) CHECK(topo::mixing_speed_of_graph(full{}, size).contraction < 1e-14);
    CHECK(full{}.at(5, 1, 4) == topo::neighbours{{0, 2, 3}, {0, 2, 3}});
}
