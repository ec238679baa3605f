// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/exponential.hpp"

#include "suites/graph_suite.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace chorus;
using topo::exponential;
using topo::neighbours;

TEST_CASE("GOS-1, GOS-2: exponential, one way and both ways, keeps all laws of a graph") {
    suites::graph_suite(exponential{}, {.goes_both_ways = false, .is_regular = true, .largest_degree = 5});
    suites::graph_suite(exponential{.base = 3, .is_directed = false}, {.is_regular = true, .largest_degree = 6});
}

TEST_CASE("GOS-2: distances of the exponential graph") {
    CHECK(exponential{}.distances(1).empty());
    CHECK(exponential{}.distances(2) == std::vector<rank_id>{1});
    CHECK(exponential{}.distances(6) == std::vector<rank_id>{1, 2, 4});
    CHECK(exponential{}.distances(9) == std::vector<rank_id>{1, 2, 4, 8});
    CHECK(exponential{.base = 3}.distances(28) == std::vector<rank_id>{1, 3, 9, 27});
    CHECK(exponential{.base = 65536}.distances(4000000000u) == std::vector<rank_id>{1, 65536});
    CHECK(exponential{}.at(9, 1, 6) == neighbours{{2, 3, 5}, {0, 3, 5}});
}

TEST_CASE("GOS-7: 1 peer of 8, 2 of 5 in turn; more peers than distances are refused on every rank") {
    exponential const one{.peers = 1}, two{.peers = 2}, three{.peers = 3};
    CHECK(one.period(8) == 3);
    CHECK(two.period(5) == 3);
    for (step_id step = 0; step < 64; ++step) {
        CHECK_NOTHROW(topo::expect_mirrored(one, step, 8));
        CHECK_NOTHROW(topo::expect_mirrored(two, step, 5));
    }
    CHECK(two.at(0, 0, 5) == neighbours{{1, 2}, {3, 4}});
    CHECK(two.at(1, 0, 5) == neighbours{{1, 4}, {1, 4}});
    CHECK(two.at(2, 0, 5) == neighbours{{2, 4}, {1, 3}});
    CHECK(topo::mixing_speed_of_graph(two, 5).rounds_to(1e-6).has_value());
    for (rank_id rank = 0; rank < 3; ++rank)
        CHECK(suites::unlike(errc::invalid_argument, {"3 peers", "3 ranks have only 2 distances"},
                             [&] { three.at(0, rank, 3); }) == "");
    CHECK(three.at(0, 0, 1) == neighbours{});
    CHECK(suites::unlike(errc::invalid_argument, {"2 or more, not 1"}, [] { exponential{.base = 1}.at(0, 0, 4); }) == "");
}

TEST_CASE("exponential: contraction (d - 1) / (d + 1) for 2^d ranks") {
    for (rank_id d = 1; d <= 6; ++d)
        CHECK(topo::mixing_speed_of_graph(exponential{}, rank_id{1} << d).contraction ==
              doctest::Approx((d - 1.0) / (d + 1.0)).epsilon(1e-9).scale(1));
}
