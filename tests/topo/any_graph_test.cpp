// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/any_graph.hpp"

#include "chorus/topo/random_matching.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "suites/graph_suite.hpp"

#include <doctest/doctest.h>

using topo_graph = chorus::topo::any_graph;
using chorus::topo::random_matching;
using chorus::topo::ring_graph;

TEST_CASE("any_graph keeps all laws of a graph") {
    suites::graph_suite(topo_graph{random_matching{}}, {.largest_degree = 1});
}

TEST_CASE("any_graph is the graph inside, compared by what it says") {
    topo_graph const ring = ring_graph{}, one_way = ring_graph{.is_directed = true};
    CHECK(ring.kind() == "ring_graph");
    CHECK(ring.describe() == "ring_graph");
    CHECK(one_way.describe() == "ring_graph(is_directed=true)");
    CHECK(ring == topo_graph{ring_graph{}});
    CHECK(!(ring == one_way));
    CHECK(topo_graph{random_matching{.seed = 9}}.describe() == "random_matching(seed=9)");
    topo_graph copy = ring;
    copy = one_way;
    CHECK(copy.at(0, 1, 4) == ring_graph{.is_directed = true}.at(0, 1, 4));
    CHECK(ring.at(0, 1, 4) == ring_graph{}.at(0, 1, 4));
}
