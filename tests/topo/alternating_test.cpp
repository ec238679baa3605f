// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/alternating.hpp"

#include "chorus/topo/full.hpp"
#include "chorus/topo/one_peer_hypercube.hpp"
#include "chorus/topo/random_matching.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "suites/graph_suite.hpp"

#include <doctest/doctest.h>

using namespace chorus;
using topo::alternating;

TEST_CASE("GOS-1, GOS-2: alternating keeps all laws of a graph, with and without a period") {
    suites::graph_suite(alternating{{topo::ring_graph{}, topo::one_peer_hypercube{}}}, {.largest_degree = 2});
    suites::graph_suite(alternating{{topo::random_matching{}, topo::ring_graph{}}}, {.largest_degree = 2});
}

TEST_CASE("alternating: graphs take turns and go on where they were") {
    topo::one_peer_hypercube const cube;
    alternating const g{{cube, topo::full{}, topo::ring_graph{}}};
    CHECK(g.period(16) == 12);
    for (step_id step = 0; step < 24; ++step) {
        CHECK(g.at(3 * step, 3, 16) == cube.at(step, 3, 16));
        CHECK(g.at(3 * step + 1, 3, 16) == topo::full{}.at(0, 3, 16));
        CHECK(g.at(3 * step + 2, 3, 16) == topo::ring_graph{}.at(0, 3, 16));
    }
    CHECK(alternating{{topo::random_matching{}, cube}}.period(16) == 0);
    CHECK(g.describe() == "alternating(one_peer_hypercube, full, ring_graph)");
    CHECK(suites::unlike(errc::invalid_argument, {"no graph"}, [] { alternating{}.at(0, 0, 4); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"no graph"}, [] { alternating{}.period(4); }) == "");
}
