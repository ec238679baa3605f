// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/sign_bit.hpp"

#include "suites/compressor_suite.hpp"

#include <cmath>
#include <cstddef>
#include <initializer_list>

#include <doctest/doctest.h>

using chorus::detail::instruction_set;

TEST_CASE("sign_bit: all laws of a compressor") { suites::compressor_suite(chorus::sign_bit{}, {.suffering = 0}); }

TEST_CASE("CMP-8: the scale is exact, a zero of either sign becomes +scale, on every path, and padding is not read") {
    auto const widest = chorus::detail::widest_instruction_set();
    for (int level = 0; level <= static_cast<int>(widest); ++level) {
        chorus::detail::force_instruction_set(static_cast<instruction_set>(level));
        for (std::size_t count : {1u, 7u, 8u, 9u, 31u, 33u, 65u}) {
            CAPTURE(count);
            suites::floats x(count);
            for (std::size_t i = 0; i < count; ++i) x[i] = i % 2 == 0 ? 2.0f : -2.0f;
            chorus::sign_bit c;
            CHECK(suites::decoded(c, suites::encoded(c, x), count) == x);
            for (float zero : {0.0f, -0.0f}) {
                suites::floats with_zero = x;
                with_zero[count / 2] = zero;
                float const scale = 2.0f * static_cast<float>(count - 1) / static_cast<float>(count);
                auto const result = suites::decoded(c, suites::encoded(c, with_zero), count);
                CHECK(suites::same_bits(result[count / 2], scale));
                CHECK(std::abs(result[0]) == scale);
            }
        }
    }
    chorus::detail::force_instruction_set(widest);
}

TEST_CASE("sign_bit promises no more than one element among zeros keeps, and of a dense vector keeps more") {
    suites::floats x(100);
    x[42] = 3;
    chorus::sign_bit c;
    auto const result = suites::decoded(c, suites::encoded(c, x), x.size());
    CHECK(suites::squared_distance(x, result) == doctest::Approx((1 - c.promise(100).contraction) * 9));
    auto const dense = suites::drawn(100000, 1);
    auto const sent = suites::decoded(c, suites::encoded(c, dense), dense.size());
    CHECK(suites::squared_distance(dense, sent) < 0.3 * suites::squared_norm(dense));
}

TEST_CASE("NAN-4: what is not finite makes the scale NaN, or is refused") {
    float const nan = suites::float_limits::quiet_NaN(), infinite = suites::float_limits::infinity();
    for (suites::floats const& x : {suites::floats{nan, 1, 2}, suites::floats{infinite, 1, 2}, suites::floats{-infinite, infinite, 0}}) {
        chorus::sign_bit c;
        for (float v : suites::decoded(c, suites::encoded(c, x), x.size())) CHECK(std::isnan(v));
        c.on_nonfinite = chorus::nonfinite::refuse;
        CHECK(suites::unlike(chorus::errc::invalid_argument, {"element 0 is"}, [&] { suites::encoded(c, x); }) == "");
    }
}

TEST_CASE("CMP-3: 2^20 floats take 128 KiB, a header and a scale") {
    CHECK(suites::sent_bytes(chorus::sign_bit{}) == (1u << 17) + 20);
}
