// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/inner_outer.hpp"

#include "suites/graph_suite.hpp"

#include <doctest/doctest.h>

using namespace chorus;
using topo::inner_outer;
using topo::layout;
using topo::neighbours;

TEST_CASE("GOS-1, GOS-2: inner_outer keeps all laws of a graph") {
    suites::graph_suite(inner_outer{}, {.largest_degree = 5});
    suites::graph_suite(inner_outer{.width = 1}, {.is_regular = true, .largest_degree = 2});
}

TEST_CASE("inner_outer: all of a host, and its speaker with the neighbouring hosts'") {
    inner_outer const g{.width = 3};
    CHECK(g.period(9) == 6);
    CHECK(g.at(0, 0, 9) == neighbours{{1, 2, 3, 6}, {1, 2, 3, 6}});
    CHECK(g.at(0, 1, 9) == neighbours{{0, 2}, {0, 2}});
    CHECK(g.at(1, 1, 9) == neighbours{{0, 2, 4, 7}, {0, 2, 4, 7}});
    CHECK(g.at(2, 3, 9) == neighbours{{4, 5}, {4, 5}});
    inner_outer const two{.width = 2};
    CHECK(two.at(0, 0, 16) == neighbours{{1, 2, 14}, {1, 2, 14}});
    CHECK(two.at(1, 1, 16) == neighbours{{0, 5, 13}, {0, 5, 13}});
    CHECK(two.at(2, 0, 16) == neighbours{{1, 8}, {1, 8}});
}

TEST_CASE("inner_outer: any placement, uneven hosts, at most two messages from each") {
    layout const places{0, 1, 2, 0, 1, 0, 3};
    inner_outer const g{.places = places};
    CHECK(g.period(7) == 6);
    for (step_id step = 0; step < 6; ++step) {
        topo::expect_mirrored(g, step, 7);
        for (rank_id host = 0; host < places.hosts(); ++host) {
            int messages = 0;
            for (rank_id const rank : places.ranks_of(host))
                for (rank_id const peer : g.at(step, rank, 7).to) messages += places.host_of(peer) != host;
            CHECK(messages >= 1);
            CHECK(messages <= 2);
        }
    }
    CHECK(topo::mixing_speed_of_graph(g, 7).rounds_to(1e-6).has_value());
    for (rank_id rank = 0; rank < 8; ++rank)
        CHECK(suites::unlike(errc::invalid_argument, {"a layout of 7 ranks for 8"}, [&] { g.at(0, rank, 8); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"width is 0"}, [] { inner_outer{.width = 0}.at(0, 0, 8); }) == "");
}
