// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/float8_e4m3_cast.hpp"

#include "suites/compressor_suite.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <doctest/doctest.h>

namespace {

/// The values of all codes, as the format defines them.
suites::floats decoded_codes() {
    suites::floats const zeros(256, 0.0f);
    chorus::float8_e4m3_cast c;
    suites::message_bytes wire = suites::encoded(c, zeros);
    for (std::size_t i = 0; i < 256; ++i) wire[16 + i] = static_cast<std::byte>(i);
    return suites::decoded(c, wire, 256);
}

float defined(unsigned code) {
    constexpr int fraction = 3;
    constexpr int bias = 7;
    unsigned const size = code & 0x7F;
    int const exponent = static_cast<int>(size >> fraction);
    auto const digits = static_cast<float>(size & ((1u << fraction) - 1));
    float const value = exponent == 0 ? std::ldexp(digits, 1 - bias - fraction)
                                      : std::ldexp(digits + (1 << fraction), exponent - bias - fraction);
    return code & 0x80 ? -value : value;
}

}  // namespace

TEST_CASE("float8_e4m3_cast: all laws of a compressor") { suites::compressor_suite(chorus::float8_e4m3_cast{}); }

TEST_CASE("float8_e4m3_cast decodes every code as the format defines it") {
    auto const values = decoded_codes();
    for (unsigned code = 0; code < 256; ++code) {
        unsigned const size = code & 0x7F;
        CAPTURE(code);
        if (size == 0x7F) CHECK(std::isnan(values[code]));
        else CHECK(suites::same_bits(values[code], defined(code)));
    }
    CHECK(defined(0x7E) == 448.0f);
}

TEST_CASE("float8_e4m3_cast rounds to the nearest code, ties to the even one") {
    constexpr unsigned last = 0x7E;
    suites::floats x, expected;
    auto add = [&](float value, unsigned code) {
        for (float sign : {1.0f, -1.0f}) {
            x.push_back(sign * value);
            expected.push_back(sign * defined(code));
        }
    };
    for (unsigned code = 0; code < last; ++code) {
        float const low = defined(code), high = defined(code + 1), middle = (low + high) / 2;
        add(low, code);
        add(std::nextafter(middle, low), code);
        add(middle, code % 2 == 0 ? code : code + 1);
        add(std::nextafter(middle, high), code + 1);
    }
    chorus::float8_e4m3_cast c;
    auto const result = suites::decoded(c, suites::encoded(c, x), x.size());
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) wrong += !suites::same_bits(result[i], expected[i]);
    CHECK(wrong == 0);
    suites::floats const beyond = {449.0f, 1e30f, -500.0f};
    CHECK(suites::decoded(c, suites::encoded(c, beyond), 3) == suites::floats{448.0f, 448.0f, -448.0f});
}

TEST_CASE("CMP-3: 2^20 floats take 1 MiB and a header") {
    CHECK(suites::sent_bytes(chorus::float8_e4m3_cast{}) == (1u << 20) + 16);
}
