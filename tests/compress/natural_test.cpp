// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/natural.hpp"

#include "suites/compressor_suite.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

TEST_CASE("natural: all laws of a compressor") { suites::compressor_suite(chorus::natural{}); }

TEST_CASE("natural sends one of the two powers of two around each element, and powers of two exactly") {
    auto x = suites::drawn(3000, 1);
    for (int e = -126; e <= 127; ++e) x.push_back(std::ldexp(e % 2 == 0 ? 1.0f : -1.0f, e));
    chorus::natural c;
    auto const result = suites::decoded(c, suites::encoded(c, x), x.size());
    for (std::size_t i = 0; i < 3000; ++i) {
        float const low = std::ldexp(1.0f, std::ilogb(x[i]));
        CHECK((std::abs(result[i]) == low || std::abs(result[i]) == 2 * low));
        CHECK(std::signbit(result[i]) == std::signbit(x[i]));
    }
    for (std::size_t i = 3000; i < x.size(); ++i) CHECK(result[i] == x[i]);
}

TEST_CASE("CMP-3: 2^20 floats take 9 bits each and a header") {
    CHECK(suites::sent_bytes(chorus::natural{}) == (1u << 20) + (1u << 17) + 16);
}
