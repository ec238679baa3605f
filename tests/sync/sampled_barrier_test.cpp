// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/sampled_barrier.hpp"

#include "suites/expected_error.hpp"

#include <cmath>
#include <cstddef>
#include <set>
#include <vector>

#include <doctest/doctest.h>

using chorus::barrier_sampler;
using chorus::rank_id;
using chorus::sampled_barrier;

TEST_CASE("the four limits: everyone is looked at, or nobody, with a bound or without, at any size") {
    for (rank_id p = 1; p <= 17; ++p)
        for (rank_id me = 0; me < p; ++me) {
            auto passes = [&](sampled_barrier const& rule, chorus::step_id mine, chorus::step_id others, chorus::step_id last) {
                rank_id const late = (me + 1) % p;
                return barrier_sampler{rule, me, p}.passes(mine, [&](rank_id r) { return r == late ? last : others; });
            };
            CHECK(passes({}, 5, 5, 5));                                             // BSP
            CHECK(passes({}, 5, 6, 4) == (p == 1));
            CHECK(passes({.bound = 2}, 5, 5, 3));                                   // SSP
            CHECK(passes({.bound = 2}, 5, 5, 2) == (p == 1));
            CHECK(passes({.bound = 2, .sampled = p - 1}, 5, 5, 2) == (p == 1));
            CHECK(passes({.bound = sampled_barrier::unbounded}, 1000, 0, 0));       // ASP
            CHECK(passes({.sampled = 0}, 1000, 0, 0));
        }
}

TEST_CASE("samples hold others only, each once, and every one with the probability that is said") {
    for (bool weighted : {false, true}) {
        constexpr rank_id p = 7;
        sampled_barrier rule{.sampled = 3, .seed = 9};
        if (weighted) rule.weights = {1, 2, 3, 4, 5, 30, 1};
        barrier_sampler draws{rule, 2, p};
        std::vector<double> seen(p, 0.0);
        constexpr int many = 20000;
        double total = 0;
        for (int i = 0; i < many; ++i, draws.draw()) {
            auto const sample = draws.sample();
            CHECK(std::set<rank_id>(sample.begin(), sample.end()).size() == 3);
            for (rank_id r : sample) ++seen[r];
        }
        for (rank_id r = 0; r < p; ++r) {
            CHECK(std::abs(seen[r] / many - draws.sample_shares()[r]) < 0.02);
            total += draws.sample_shares()[r];
        }
        CHECK(std::abs(total - 3) < 1e-9);
        CHECK(draws.sample_shares()[2] == 0);
    }
}
