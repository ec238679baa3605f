// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/random_matching.hpp"

#include "suites/graph_suite.hpp"

#include <map>
#include <vector>

#include <doctest/doctest.h>

using namespace chorus;
using topo::neighbours;
using topo::random_matching;

TEST_CASE("GOS-1, GOS-2: random_matching keeps all laws of a graph") {
    suites::graph_suite(random_matching{}, {.largest_degree = 1});
    suites::graph_suite(random_matching{.seed = 7}, {.largest_degree = 1});
}

TEST_CASE("GOS-3: random_matching leaves nobody out if p is even, and one rank in turn if it is odd") {
    for (rank_id size = 2; size <= 17; ++size)
        for (step_id step = 0; step < 64; ++step)
            for (rank_id rank = 0; rank < size; ++rank)
                CHECK(random_matching{}.at(step, rank, size).to.empty() == (size % 2 == 1 && rank == step % size));
}

TEST_CASE("random_matching: all matchings are equally likely, and seeds differ") {
    std::map<std::vector<rank_id>, int> seen;
    int const steps = 15 * 400;
    for (step_id step = 0; step < steps; ++step) {
        std::vector<rank_id> partners;
        for (rank_id rank = 0; rank < 6; ++rank) partners.push_back(random_matching{.seed = 3}.at(step, rank, 6).to[0]);
        ++seen[partners];
    }
    CHECK(seen.size() == 15);  // 5 * 3 matchings of six
    double squares = 0;
    for (auto const& [partners, times] : seen) squares += (times - 400.0) * (times - 400.0) / 400;
    CHECK(squares < 36.1);  // chi-squared, 14 degrees of freedom: one seed in a thousand is above
    int alike = 0;
    for (step_id step = 0; step < 1000; ++step)
        alike += random_matching{.seed = 1}.at(step, 0, 6) == random_matching{.seed = 2}.at(step, 0, 6);
    CHECK(alike < 300);
}

TEST_CASE("random_matching: the squared distance falls as said") {
    rank_id const size = 8;
    double left = 0;
    int const steps = 4000;
    for (step_id step = 0; step < steps; ++step) {
        std::vector<double> x(size, -1.0);
        for (rank_id rank = 0; rank < size / 2; ++rank) x[rank] = 1.0;
        for (double const value : topo::graph_matrix(random_matching{}, topo::metropolis{}, step, size).applied(x))
            left += value * value / size;
    }
    CHECK(left / steps == doctest::Approx(0.5 - 0.5 / (size - 1)).epsilon(0.02));
}
