// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/data/bfloat16.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

using chorus::bfloat16;

namespace {

bool is_nan(std::uint32_t bits) { return (bits & 0x7FFFu) > 0x7F80u; }
std::uint32_t narrowed(std::uint32_t float_bits) { return bfloat16{std::bit_cast<float>(float_bits)}.bits(); }

}  // namespace

static_assert(sizeof(bfloat16) == 2 && std::is_trivial_v<bfloat16>);
static_assert(bfloat16{1.0f}.bits() == 0x3F80 && float{bfloat16::from_bits(0xC000)} == -2.0f);
static_assert(!std::is_convertible_v<float, bfloat16> && !std::is_convertible_v<bfloat16, float>);

TEST_CASE("bfloat16: every pattern is the upper half of its float and survives the way there and back") {
    for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
        bfloat16 const value = bfloat16::from_bits(static_cast<std::uint16_t>(bits));
        REQUIRE(std::bit_cast<std::uint32_t>(float{value}) == bits << 16);
        REQUIRE(bfloat16{float{value}}.bits() == (is_nan(bits) ? bits | 0x0040u : bits));
    }
}

TEST_CASE("bfloat16: rounding is to the nearest, ties to even, between all neighbours") {
    for (std::uint32_t sign : {0u, 0x8000u})
        for (std::uint32_t bits = 0; bits < 0x7F80u; ++bits) {
            std::uint32_t const middle = ((sign | bits) << 16) | 0x8000u;
            REQUIRE(narrowed(middle) == (sign | ((bits & 1u) != 0 ? bits + 1 : bits)));
            REQUIRE(narrowed(middle - 1) == (sign | bits));
            REQUIRE(narrowed(middle + 1) == (sign | (bits + 1)));
        }
}

TEST_CASE("NAN-3: NaNs stay NaNs, infinity stays, the largest float becomes infinity, ties go to even") {
    CHECK(is_nan(narrowed(0x7F800001u)));
    CHECK(is_nan(narrowed(0x7FFFFFFFu)));
    CHECK(is_nan(narrowed(0xFF800001u)));
    CHECK(narrowed(0x7F800000u) == 0x7F80u);
    CHECK(narrowed(0x3E89CCD5u) == 0x3E8Au);
    CHECK(narrowed(0x7F7FFFFFu) == 0x7F80u);
    CHECK(narrowed(0xFF7FFFFFu) == 0xFF80u);
    for (std::uint32_t bits = 0x7F800001u; bits < 0x7FFFFFFFu; bits += 0x1235u)
        for (std::uint32_t sign : {0u, 0x80000000u})
            REQUIRE(narrowed(sign | bits) == (((sign | bits) >> 16) | 0x0040u));
}

TEST_CASE("bfloat16: comparisons are those of float") {
    bfloat16 const nan = std::numeric_limits<bfloat16>::quiet_NaN();
    CHECK(bfloat16{0.0f} == bfloat16{-0.0f});
    CHECK(nan != nan);
    CHECK_FALSE((nan < bfloat16{1.0f} || nan > bfloat16{1.0f}));
    CHECK(bfloat16{-2.0f} < bfloat16{1.0f});
    CHECK(bfloat16{2.0f} >= bfloat16{1.0f});
}

TEST_CASE("bfloat16: numeric_limits name the values that they claim") {
    using limits = std::numeric_limits<bfloat16>;
    CHECK(float{(limits::max)()} == std::ldexp(255.0f, 120));
    CHECK(float{limits::lowest()} == -std::ldexp(255.0f, 120));
    CHECK(float{(limits::min)()} == std::ldexp(1.0f, -126));
    CHECK(float{limits::denorm_min()} == std::ldexp(1.0f, -133));
    CHECK(float{limits::epsilon()} == std::ldexp(1.0f, -7));
    CHECK(std::isinf(float{limits::infinity()}));
    CHECK(std::isnan(float{limits::quiet_NaN()}));
    CHECK((is_nan(limits::signaling_NaN().bits()) && (limits::signaling_NaN().bits() & 0x0040u) == 0));
}
