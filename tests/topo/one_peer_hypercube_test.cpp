// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/one_peer_hypercube.hpp"

#include "suites/graph_suite.hpp"

#include <vector>

#include <doctest/doctest.h>

using namespace chorus;
using topo::neighbours;
using topo::one_peer_hypercube;

TEST_CASE("GOS-1, GOS-2: one_peer_hypercube keeps all laws of a graph") {
    suites::graph_suite(one_peer_hypercube{}, {.largest_degree = 1});
}

TEST_CASE("one_peer_hypercube: the exact mean after log2 p steps, to the bit for small whole numbers") {
    for (rank_id d = 0; d <= 6; ++d) {
        rank_id const size = rank_id{1} << d;
        CHECK(topo::mixing_speed_of_graph(one_peer_hypercube{}, size) == topo::mixing_speed{d == 0 ? 1 : d, 0.0});
    }
}

TEST_CASE("GOS-3: who has no partner keeps its value, and the mean stays") {
    for (rank_id size : {3u, 5u, 6u, 7u, 9u}) {
        std::vector<double> x(size);
        for (rank_id rank = 0; rank < size; ++rank) x[rank] = rank * 8.0;
        double const sum = 4.0 * size * (size - 1);
        for (step_id step = 0; step < 3; ++step) {
            auto const before = x;
            x = topo::graph_matrix(one_peer_hypercube{}, topo::metropolis{}, step, size).applied(x);
            double now = 0;
            for (rank_id rank = 0; rank < size; ++rank) {
                now += x[rank];
                neighbours const met = one_peer_hypercube{}.at(step, rank, size);
                CHECK(x[rank] == (met.to.empty() ? before[rank] : (before[rank] + before[met.to[0]]) / 2));
            }
            CHECK(now == sum);
        }
    }
}
