// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/graph.hpp"
#include "chorus/topo/mixing.hpp"
#include "chorus/topo/weights.hpp"
#include "suites/expected_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

namespace suites {

/// What a graph promises beyond the laws of all graphs.
struct graph_promises {
    bool goes_both_ways = true;
    bool is_regular = false;           ///< at each step all ranks have one degree
    std::size_t largest_degree = 63;   ///< of those a rank sends to
    chorus::step_id steps_to_connect = 64;  ///< where it has no period
};

namespace detail {

using namespace chorus;
using topo::neighbours;

/// GOS-2, and that the lists depend on nothing but step, rank and size.
template <class G>
void check_lists(G const& g, rank_id size, graph_promises const& promises) {
    for (step_id step = 0; step < 64; ++step) {
        CAPTURE(step);
        CHECK_NOTHROW(topo::expect_mirrored(g, step, size));
        std::vector<std::size_t> degrees;
        for (rank_id rank = 0; rank < size; ++rank) {
            neighbours const met = g.at(step, rank, size);
            if (met != topo::any_graph{g}.at(step, rank, size)) FAIL("rank " << rank << " differs when asked again");
            if (promises.goes_both_ways && met.to != met.from) FAIL("rank " << rank << " has edges of one way");
            degrees.push_back(met.to.size());
            if (size == 1 && met != neighbours{}) FAIL("a single rank has neighbours");
        }
        CHECK(*std::max_element(degrees.begin(), degrees.end()) <= promises.largest_degree);
        if (promises.is_regular) CHECK(std::count(degrees.begin(), degrees.end(), degrees[0]) == size);
    }
}

template <class G>
void check_period(G const& g, rank_id size) {
    step_id const period = g.period(size);
    for (step_id step = 0; period > 0 && step < 64; ++step)
        for (rank_id rank = 0; rank < size; ++rank)
            if (g.at(step, rank, size) != g.at(step + period, rank, size))
                FAIL("step " << step << ", rank " << rank << ": not as a period later");
}

/// What each weighting promises of rows and columns; GOS-1 for one rank.
template <class G>
void check_weights(G const& g, rank_id size, step_id steps, graph_promises const& promises) {
    using topo::stochastic;
    for (step_id step = 0; step < steps; ++step) {
        CAPTURE(step);
        auto flaw = [&](auto const& weights, stochastic wanted) {
            return topo::stochastic_flaw(topo::graph_matrix(g, weights, step, size), wanted);
        };
        bool const keeps_mean = promises.goes_both_ways || promises.is_regular;
        CHECK(flaw(topo::metropolis{}, keeps_mean ? stochastic::both : stochastic::rows) == "");
        CHECK(flaw(topo::max_degree{}, keeps_mean ? stochastic::both : stochastic::rows) == "");
        CHECK(flaw(topo::uniform{}, promises.is_regular ? stochastic::both : stochastic::rows) == "");
        CHECK(flaw(topo::out_degree{}, promises.is_regular ? stochastic::both : stochastic::columns) == "");
        topo::mixing_matrix const w = topo::graph_matrix(g, topo::metropolis{}, step, size);
        if (promises.goes_both_ways) CHECK(w == w.transposed());
    }
}

/// Values are mixed step by step: the mean stays, and after the rounds that were predicted no value is farther from it than
/// was said.
template <class G>
void check_rounds(G const& g, rank_id size, step_id steps) {
    topo::mixing_speed const speed = topo::mixing_speed_of_graph(g, size, topo::metropolis{}, steps);
    double const epsilon = 1e-3;
    REQUIRE(speed.rounds_to(epsilon).has_value());
    step_id const rounds = *speed.rounds_to(epsilon);
    double const mean = (size - 1) / 2.0;
    for (rank_id start = 0; start < 2; ++start) {
        std::vector<double> x(size);  // 0 … size - 1, and all with rank 0
        if (start == 0) std::iota(x.begin(), x.end(), 0.0);
        else x[0] = mean * size;
        auto distance = [&] {
            double sum = 0;
            for (double const value : x) sum += (value - mean) * (value - mean);
            return std::sqrt(sum);
        };
        double const before = distance();
        for (step_id step = 0; step < rounds; ++step)
            x = topo::graph_matrix(g, topo::metropolis{}, step % steps, size).applied(x);
        CHECK(std::accumulate(x.begin(), x.end(), 0.0) == doctest::Approx(mean * size).epsilon(1e-12));
        CHECK(distance() <= epsilon * before * (1 + 1e-9) + 1e-12);
    }
}

}  // namespace detail

/// The laws of a graph whose edges are balanced (both ways, or one degree), for 1 to 17 ranks and steps 0 to 63: mirrored lists
/// (row GOS-2), nothing for one rank (row GOS-1), its period, sums of weights, all ranks reached, rounds predicted.
template <class G>
void graph_suite(G const& g, graph_promises const& promises = {}) {
    for (chorus::rank_id size = 1; size <= 17; ++size) {
        CAPTURE(chorus::topo::detail::described_graph(g));
        CAPTURE(size);
        chorus::step_id const period = g.period(size);
        chorus::step_id const steps = period > 0 ? period : promises.steps_to_connect;
        detail::check_lists(g, size, promises);
        detail::check_period(g, size);
        detail::check_weights(g, size, steps, promises);
        detail::check_rounds(g, size, steps);
        CHECK(unlike(chorus::errc::invalid_argument, {std::to_string(size)}, [&] { g.at(0, size, size); }) == "");
    }
}

}  // namespace suites
