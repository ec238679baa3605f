// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/star.hpp"

#include "suites/graph_suite.hpp"

#include <doctest/doctest.h>

using namespace chorus;
using topo::neighbours;
using topo::star;

TEST_CASE("GOS-1, GOS-2: star keeps all laws of a graph") { suites::graph_suite(star{}, {.largest_degree = 16}); }

TEST_CASE("star: any rank may be its centre, but it must exist") {
    CHECK(star{.centre = 2}.at(0, 2, 4) == neighbours{{0, 1, 3}, {0, 1, 3}});
    CHECK(star{.centre = 2}.at(0, 3, 4) == neighbours{{2}, {2}});
    for (rank_id rank = 0; rank < 4; ++rank)
        CHECK(suites::unlike(errc::invalid_argument, {"star", "the centre, rank 4, is not below 4"},
                             [&] { star{.centre = 4}.at(0, rank, 4); }) == "");
}

TEST_CASE("star: contraction is 1 - 1/p") {
    for (rank_id size = 3; size <= 40; ++size)
        CHECK(topo::mixing_speed_of_graph(star{}, size).contraction == doctest::Approx(1 - 1.0 / size).epsilon(1e-9));
}
