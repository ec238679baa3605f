// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/outer_optimiser.hpp"

#include <cmath>
#include <vector>

#include <doctest/doctest.h>

TEST_CASE("without momentum, momentum and Nesterov are plain steps; rate 1 takes the target to the bit") {
    std::vector<double> moments(1);
    for (double target : {0.1, -3.0, 7.25}) {
        CHECK(chorus::outer_sgd{}.prepared(0.0, 0).step(1.7, target, {}, 0) == target);
        double const plain = 2 - 0.5 * (2 - target);
        CHECK(chorus::outer_sgd{0.5}.prepared(0.0, 0).step(2.0, target, {}, 0) == doctest::Approx(plain));
        CHECK(chorus::outer_momentum{0.5, 0}.prepared(0.0, 0).step(2.0, target, moments, 0) == doctest::Approx(plain));
        CHECK(chorus::outer_nesterov{0.5, 0}.prepared(0.0, 0).step(2.0, target, moments, 0) == doctest::Approx(plain));
    }
}

TEST_CASE("momentum adds up: a constant gradient moves by rate / (1 - momentum) in the end") {
    for (bool looks_ahead : {false, true}) {
        std::vector<double> moments(1);
        double z = 0, before = 0;
        for (int t = 0; t < 200; ++t) {
            before = z;
            z = looks_ahead ? chorus::outer_nesterov{0.1, 0.8}.prepared(0.0, 0).step(z, z - 1, moments, 0)
                            : chorus::outer_momentum{0.1, 0.8}.prepared(0.0, 0).step(z, z - 1, moments, 0);
        }
        CHECK(before - z == doctest::Approx(0.1 / 0.2));
    }
}

TEST_CASE("Adam's steps are about as long as the rate, whatever the gradient's length") {
    for (double gradient : {1.0, 100.0}) {
        std::vector<double> moments(2);
        chorus::outer_adam const adam{.rate = 0.3, .epsilon = 1e-9};
        CHECK(adam.prepared(0.0, 0).step(5.0, 5 - gradient, moments, 0) == doctest::Approx(4.7));
        CHECK(adam.prepared(0.0, 1).step(4.7, 4.7 - gradient, moments, 0) == doctest::Approx(4.4));
    }
}
