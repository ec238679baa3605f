// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/given_graph.hpp"

#include "suites/expected_error.hpp"
#include "chorus/topo/mixing.hpp"

#include <doctest/doctest.h>

using namespace chorus;
using topo::given_graph;
using topo::neighbours;

TEST_CASE("GOS-1, GOS-2: given_graph sends as it is told, and hears from whoever sends") {
    given_graph const g{{{2, 1}, {}, {0}, {1}}};
    CHECK(g.at(5, 0, 4) == neighbours{{1, 2}, {2}});
    CHECK(g.at(5, 1, 4) == neighbours{{}, {0, 3}});
    CHECK(g.at(5, 2, 4) == neighbours{{0}, {0}});
    CHECK(g.at(5, 3, 4) == neighbours{{1}, {}});
    topo::expect_mirrored(g, 0, 4);
    CHECK(given_graph{{{}}}.at(0, 0, 1) == neighbours{});
    CHECK(topo::stochastic_flaw(topo::graph_matrix(g, topo::out_degree{}, 0, 4), topo::stochastic::columns) == "");
    CHECK(topo::stochastic_flaw(topo::graph_matrix(g, topo::metropolis{}, 0, 4), topo::stochastic::rows) == "");
}

TEST_CASE("GOS-10: a rank that does not exist, a list's own, one named twice: an error on every rank") {
    auto refused = [](given_graph const& g, std::string_view word) {
        for (rank_id rank = 0; rank < 4; ++rank)
            CHECK(suites::unlike(errc::invalid_argument, {"given_graph", word}, [&] { g.at(0, rank, 4); }) == "");
    };
    refused({{{1}, {2}, {9}, {0}}}, "rank 2 of 4 at step 0: names rank 9, which does not exist");
    refused({{{1}, {2}, {2}, {0}}}, "rank 2 of 4 at step 0: names rank 2, which is the rank itself");
    refused({{{1}, {2}, {3, 0, 3}, {0}}}, "rank 2 of 4 at step 0: a neighbour is named twice");
    refused({{{1}, {2}, {0}}}, "lists of 3 ranks for 4");
    refused({}, "lists of 0 ranks for 4");
    CHECK(given_graph{{{1}, {2}, {3}, {0}}}.at(0, 0, 4) == neighbours{{1}, {3}});
}

TEST_CASE("given_graph: a graph that mixes only a part is told by two ranks") {
    given_graph const g{{{1}, {0}, {3}, {2}}};
    CHECK(suites::unlike(errc::invalid_argument, {"rank 0 has comes to rank 2"},
                         [&] { topo::mixing_speed_of_graph(g, 4); }) == "");
}
