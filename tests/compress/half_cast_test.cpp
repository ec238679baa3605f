// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/half_cast.hpp"

#include "chorus/data/half.hpp"
#include "suites/compressor_suite.hpp"

#include <bit>
#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

TEST_CASE("half_cast: all laws of a compressor") { suites::compressor_suite(chorus::half_cast{}); }

TEST_CASE("half_cast gives the bits of half, from every value, its neighbours and the midpoints") {
    suites::floats x;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        std::uint32_t const exact = std::bit_cast<std::uint32_t>(float{chorus::half::from_bits(static_cast<std::uint16_t>(bits))});
        for (std::uint32_t off : {0u, 1u, 0u - 1u, 0x0FFFu, 0x1000u, 0x1001u, 0x7FFFu, 0x8000u, 0x8001u})
            x.push_back(std::bit_cast<float>(exact + off));
    }
    chorus::half_cast c;
    auto const result = suites::decoded(c, suites::encoded(c, x), x.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += !suites::same_bits(result[i], float{chorus::half{x[i]}});
    CHECK(wrong == 0);
}

TEST_CASE("CMP-15: what is decoded is added in float, where halves would overflow") {
    suites::floats const x(5, 60000.0f);
    chorus::half_cast c;
    auto const wire = suites::encoded(c, x);
    suites::floats sum(x.size(), 0.0f);
    for (int rank = 0; rank < 3; ++rank) c.decode_add(wire, sum);
    CHECK(sum == suites::floats(x.size(), 180000.0f));
}

TEST_CASE("CMP-3: 2^20 floats take 2 MiB and a header") {
    CHECK(suites::sent_bytes(chorus::half_cast{}) == (2u << 20) + 16);
}
