// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/signum.hpp"

#include "suites/compressor_suite.hpp"

#include <cmath>
#include <cstddef>
#include <initializer_list>

#include <doctest/doctest.h>

TEST_CASE("signum: all laws of a compressor") {
    suites::compressor_suite(chorus::signum{}, {.suffering = 0});
    suites::compressor_suite(chorus::signum{.beta = 0}, {.suffering = 0, .is_large_tried = false});
}

TEST_CASE("signum sends the sign of the momentum, not of the last gradient") {
    chorus::signum c{.beta = 0.5f};
    suites::encoded(c, {8, -8, 0});
    CHECK(suites::decoded(c, suites::encoded(c, {-1, 1, 0}), 3) == suites::floats{1, -1, 1});
    CHECK(c.momentum == suites::floats{1.5f, -1.5f, 0});
}

TEST_CASE("signum: most ranks decide, a tie is 0") {
    suites::floats votes(4);
    for (suites::floats const& x : {suites::floats{1, -1, 5, -1}, suites::floats{2, -3, -9, -1}, suites::floats{-1, -1, 1, -4},
                                    suites::floats{1, 1, -1, -1}}) {
        chorus::signum c;
        c.decode_add(suites::encoded(c, x), votes);
    }
    chorus::majority_vote(votes);
    CHECK(votes == suites::floats{1, -1, 0, -1});
}

TEST_CASE("EFB-4: signum refuses another count, changing nothing, until it is reset") {
    chorus::signum c;
    auto const x = suites::drawn(100, 1), y = suites::drawn(60, 2);
    suites::encoded(c, x);
    auto const before = c.momentum;
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"100 elements and was given 60"}, [&] { suites::encoded(c, y); }) == "");
    CHECK(c.momentum == before);
    c.reset();
    suites::encoded(c, y);
    CHECK(c.momentum.size() == 60);
}

TEST_CASE("signum: a NaN is told to all, and the momentum outlives it") {
    chorus::signum c;
    suites::encoded(c, {1, 1});
    auto const result = suites::decoded(c, suites::encoded(c, {suites::float_limits::quiet_NaN(), 1}), 2);
    CHECK((std::isnan(result[0]) && std::isnan(result[1])));
    CHECK(suites::decoded(c, suites::encoded(c, {0, 0}), 2) == suites::floats{1, 1});
}

TEST_CASE("CMP-3: 2^20 floats take 128 KiB and a header") { CHECK(suites::sent_bytes(chorus::signum{}) == (1u << 17) + 16); }
