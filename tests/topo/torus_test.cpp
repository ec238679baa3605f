// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/torus.hpp"

#include "chorus/topo/ring_graph.hpp"
#include "suites/graph_suite.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <doctest/doctest.h>

using namespace chorus;
using topo::neighbours;
using topo::torus;

TEST_CASE("GOS-1, GOS-2: torus keeps all laws of a graph") {
    suites::graph_suite(torus{}, {.is_regular = true, .largest_degree = 4});
}

TEST_CASE("torus: rows and columns are closed; a prime makes a ring") {
    CHECK(torus{}.at(0, 0, 12) == neighbours{{1, 3, 4, 8}, {1, 3, 4, 8}});
    CHECK(torus{.rows = 2}.at(0, 0, 12) == neighbours{{1, 5, 6}, {1, 5, 6}});
    for (rank_id prime : {2u, 3u, 5u, 7u, 11u, 13u})
        for (rank_id rank = 0; rank < prime; ++rank)
            CHECK(torus{}.at(0, rank, prime) == topo::ring_graph{}.at(0, rank, prime));
    CHECK(suites::unlike(errc::invalid_argument, {"torus: 8 ranks do not make 3 rows"},
                         [] { torus{.rows = 3}.at(0, 0, 8); }) == "");
}

TEST_CASE("torus: contraction is what its eigenvalues say") {
    for (rank_id rows = 3; rows <= 6; ++rows)
        for (rank_id columns = 3; columns <= 7; ++columns) {
            double known = 0;
            for (rank_id k = 1; k < rows * columns; ++k) {
                double const turn = 2 * std::numbers::pi;
                double const sum = std::cos(turn * (k / columns) / rows) + std::cos(turn * (k % columns) / columns);
                known = (std::max)(known, std::abs(1 + 2 * sum) / 5);
            }
            CHECK(topo::mixing_speed_of_graph(torus{.rows = rows}, rows * columns).contraction ==
                  doctest::Approx(known).epsilon(1e-9));
        }
}
