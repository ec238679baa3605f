// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/two_centroids.hpp"

#include "suites/compressor_suite.hpp"

#include <cmath>
#include <cstddef>
#include <initializer_list>

#include <doctest/doctest.h>

TEST_CASE("two_centroids: all laws of a compressor") {
    suites::compressor_suite(chorus::two_centroids{}, {.suffering = 0});
}

TEST_CASE("two_centroids sends the two means, and loses nothing of two values") {
    suites::floats const x = {1, -4, 2, 0, -2, 9};
    chorus::two_centroids c;
    CHECK(suites::decoded(c, suites::encoded(c, x), x.size()) == suites::floats{3, -3, 3, 3, -3, 3});
    suites::floats const two = {0.5f, -7, -7, 0.5f, -7};
    CHECK(suites::decoded(c, suites::encoded(c, two), two.size()) == two);
    suites::floats const one_sided = {-1, -3};
    CHECK(suites::decoded(c, suites::encoded(c, one_sided), 2) == suites::floats{-2, -2});
}

TEST_CASE("CMP-3: 2^20 floats take 128 KiB, a header and two means") {
    CHECK(suites::sent_bytes(chorus::two_centroids{}) == (1u << 17) + 24);
}
