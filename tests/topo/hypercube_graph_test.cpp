// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/hypercube_graph.hpp"

#include "suites/graph_suite.hpp"

#include <doctest/doctest.h>

using namespace chorus;
using topo::hypercube_graph;
using topo::neighbours;

TEST_CASE("GOS-1, GOS-2: hypercube_graph keeps all laws of a graph") {
    suites::graph_suite(hypercube_graph{}, {.largest_degree = 5});
}

TEST_CASE("GOS-3: every rank of an incomplete cube has a partner") {
    for (rank_id size : {3u, 5u, 6u, 7u, 9u})
        for (rank_id rank = 0; rank < size; ++rank) CHECK(!hypercube_graph{}.at(0, rank, size).to.empty());
    CHECK(hypercube_graph{}.at(0, 0, 8) == neighbours{{1, 2, 4}, {1, 2, 4}});
    CHECK(hypercube_graph{}.at(0, 5, 6) == neighbours{{1, 4}, {1, 4}});
}

TEST_CASE("hypercube_graph: contraction (d - 1) / (d + 1)") {
    for (rank_id d = 1; d <= 6; ++d)
        CHECK(topo::mixing_speed_of_graph(hypercube_graph{}, rank_id{1} << d).contraction ==
              doctest::Approx((d - 1.0) / (d + 1.0)).epsilon(1e-9).scale(1));
}
