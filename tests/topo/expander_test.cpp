// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/expander.hpp"

#include "suites/graph_suite.hpp"

#include <doctest/doctest.h>

using namespace chorus;
using topo::expander;

TEST_CASE("GOS-1, GOS-2: expander keeps all laws of a graph") {
    suites::graph_suite(expander{}, {.largest_degree = 4});
    suites::graph_suite(expander{.cycles = 1, .seed = 5}, {.is_regular = true, .largest_degree = 2});
}

TEST_CASE("expander: the gap stays however many ranks there are, for every seed tried") {
    for (rank_id size : {16u, 32u, 64u})
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            CAPTURE(size);
            CAPTURE(seed);
            CHECK(topo::mixing_speed_of_graph(expander{.seed = seed}, size).contraction < 0.95);
            CHECK(topo::mixing_speed_of_graph(expander{.cycles = 4, .seed = seed}, size).contraction < 0.8);
        }
}

TEST_CASE("expander: seeds differ, and there must be a cycle") {
    int alike = 0;
    for (rank_id rank = 0; rank < 64; ++rank)
        alike += expander{.seed = 1}.at(0, rank, 64) == expander{.seed = 2}.at(0, rank, 64);
    CHECK(alike == 0);
    CHECK(suites::unlike(errc::invalid_argument, {"at least one cycle"}, [] { expander{.cycles = 0}.at(0, 0, 4); }) == "");
}
