// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/grid_graph.hpp"

#include "suites/graph_suite.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

using namespace chorus;
using topo::grid_graph;
using topo::neighbours;

TEST_CASE("GOS-1, GOS-2: grid_graph, as square as may be and as a line, keeps all laws of a graph") {
    suites::graph_suite(grid_graph{}, {.largest_degree = 4});
    suites::graph_suite(grid_graph{.rows = 1}, {.largest_degree = 2});
}

TEST_CASE("grid_graph: rows and columns; a prime makes a line") {
    CHECK(grid_graph{}.at(0, 5, 12) == neighbours{{1, 4, 6, 9}, {1, 4, 6, 9}});
    CHECK(grid_graph{}.at(0, 3, 12) == neighbours{{2, 7}, {2, 7}});
    CHECK(grid_graph{.rows = 6}.at(0, 3, 12) == neighbours{{1, 2, 5}, {1, 2, 5}});
    for (rank_id prime : {2u, 3u, 5u, 7u, 11u, 13u})
        for (rank_id rank = 0; rank < prime; ++rank)
            CHECK(grid_graph{}.at(0, rank, prime) == grid_graph{.rows = 1}.at(0, rank, prime));
    for (rank_id rank = 0; rank < 7; ++rank)
        CHECK(suites::unlike(errc::invalid_argument, {"grid_graph: 7 ranks do not make 2 rows"},
                             [&] { grid_graph{.rows = 2}.at(0, rank, 7); }) == "");
}

TEST_CASE("GOS-8: a line of five comes to its mean: it stays 2, and the spread falls monotonically below 1e-6") {
    auto check = [](auto const& weights) {
        topo::mixing_matrix const w = topo::graph_matrix(grid_graph{}, weights, 0, 5);
        std::vector<double> x{0, 1, 2, 3, 4};
        double spread = 4;
        for (int round = 0; round < 400; ++round) {
            x = w.applied(x);
            auto const [low, high] = std::minmax_element(x.begin(), x.end());
            REQUIRE(std::abs((x[0] + x[1] + x[2] + x[3] + x[4]) / 5 - 2) <= 1e-12);
            REQUIRE((*high - *low < spread || spread < 1e-12));
            spread = *high - *low;
        }
        CHECK(spread < 1e-6);
    };
    check(topo::metropolis{});
    check(topo::max_degree{});
}
