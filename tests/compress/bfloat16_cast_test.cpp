// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/bfloat16_cast.hpp"

#include "chorus/data/bfloat16.hpp"
#include "suites/compressor_suite.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

TEST_CASE("bfloat16_cast: all laws of a compressor") { suites::compressor_suite(chorus::bfloat16_cast{}); }

TEST_CASE("bfloat16_cast gives the bits of bfloat16, from every value, its neighbours and the midpoints") {
    suites::floats x;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        std::uint32_t const exact = std::bit_cast<std::uint32_t>(float{chorus::bfloat16::from_bits(static_cast<std::uint16_t>(bits))});
        for (std::uint32_t off : {0u, 1u, 0u - 1u, 0x0FFFu, 0x1000u, 0x1001u, 0x7FFFu, 0x8000u, 0x8001u})
            x.push_back(std::bit_cast<float>(exact + off));
    }
    chorus::bfloat16_cast c;
    auto const result = suites::decoded(c, suites::encoded(c, x), x.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += !suites::same_bits(result[i], float{chorus::bfloat16{x[i]}});
    CHECK(wrong == 0);
}

TEST_CASE("NAN-3: every NaN stays a NaN, and the rest is rounded to nearest, not cut") {
    constexpr std::uint32_t given[] = {0x7F800001, 0x7FFFFFFF, 0xFF800001, 0x7F800000, 0x3E89CCD5, 0x7F7FFFFF};
    constexpr std::uint16_t expected[] = {0, 0, 0, 0x7F80, 0x3E8A, 0x7F80};  // 0: a NaN
    suites::floats x;
    for (std::uint32_t bits : given) x.push_back(std::bit_cast<float>(bits));
    chorus::bfloat16_cast c;
    auto const result = suites::decoded(c, suites::encoded(c, x), x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
        if (expected[i] == 0) CHECK(std::isnan(result[i]));
        else CHECK(std::bit_cast<std::uint32_t>(result[i]) == std::uint32_t{expected[i]} << 16);
    }
}

TEST_CASE("CMP-3: 2^20 floats take 2 MiB and a header") {
    CHECK(suites::sent_bytes(chorus::bfloat16_cast{}) == (2u << 20) + 16);
}
