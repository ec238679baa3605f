// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/data/half.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <type_traits>

using chorus::half;

namespace {

/// The value of a pattern from the definition of binary16, by other means than the code under test.
double by_definition(std::uint32_t bits) {
    int const exponent = static_cast<int>((bits >> 10) & 31u);
    double const fraction = bits & 0x3FFu;
    double const sign = (bits & 0x8000u) != 0 ? -1.0 : 1.0;
    if (exponent == 31) return sign * HUGE_VAL;
    if (exponent == 0) return sign * std::ldexp(fraction, -24);
    return sign * std::ldexp(1024.0 + fraction, exponent - 25);
}

bool is_nan(std::uint32_t bits) { return (bits & 0x7FFFu) > 0x7C00u; }

std::uint32_t float_bits(float value) { return std::bit_cast<std::uint32_t>(value); }

}  // namespace

static_assert(sizeof(half) == 2 && std::is_trivial_v<half>);
static_assert(half{1.0f}.bits() == 0x3C00 && float{half::from_bits(0xC000)} == -2.0f);
static_assert(!std::is_convertible_v<float, half> && !std::is_convertible_v<half, float>);

TEST_CASE("half: every pattern has the value of the definition and survives the way to float and back") {
    for (std::uint32_t bits = 0; bits < 0x10000u; ++bits) {
        half const value = half::from_bits(static_cast<std::uint16_t>(bits));
        float const wide{value};
        REQUIRE(std::signbit(wide) == ((bits & 0x8000u) != 0));
        if (is_nan(bits)) {
            REQUIRE(std::isnan(wide));
            REQUIRE((float_bits(wide) & 0x007FE000u) == (((bits & 0x3FFu) << 13) | 0x00400000u));
            REQUIRE(half{wide}.bits() == (bits | 0x0200u));
        } else {
            REQUIRE(static_cast<double>(wide) == by_definition(bits));
            REQUIRE(half{wide}.bits() == bits);
        }
    }
}

TEST_CASE("half: rounding is to the nearest, ties to even, between all neighbours") {
    for (std::uint32_t bits = 0; bits < 0x7C00u; ++bits) {
        bool const is_last = bits == 0x7BFFu;
        double const low = by_definition(bits);
        double const high = is_last ? 65536.0 : by_definition(bits + 1);
        float const middle = static_cast<float>((low + high) / 2);  // exact
        std::uint32_t const even = (bits & 1u) != 0 ? bits + 1 : bits;
        for (std::uint32_t sign : {0u, 0x8000u}) {
            float const direction = sign != 0 ? -1.0f : 1.0f;
            REQUIRE(half{direction * middle}.bits() == (sign | even));
            REQUIRE(half{direction * std::nextafter(middle, 0.0f)}.bits() == (sign | bits));
            REQUIRE(half{direction * std::nextafter(middle, 1e9f)}.bits() == (sign | (bits + 1)));
        }
    }
}

TEST_CASE("half: the ends of the float range") {
    CHECK(half{65504.0f}.bits() == 0x7BFF);
    CHECK(half{std::nextafter(65520.0f, 0.0f)}.bits() == 0x7BFF);
    CHECK(half{65520.0f}.bits() == 0x7C00);
    CHECK(half{-std::numeric_limits<float>::infinity()}.bits() == 0xFC00);
    CHECK(half{(std::numeric_limits<float>::max)()}.bits() == 0x7C00);
    CHECK(half{-std::numeric_limits<float>::denorm_min()}.bits() == 0x8000);
}

TEST_CASE("NAN-3: every kind of NaN narrows to a quiet NaN of its sign, none to infinity or zero") {
    for (std::uint32_t bits : {0x7F800001u, 0x7FFFFFFFu, 0xFF800001u, 0x7FC00000u, 0xFFC02000u, 0x7FBFFFFFu}) {
        std::uint32_t const result = half{std::bit_cast<float>(bits)}.bits();
        CHECK(is_nan(result));
        CHECK((result & 0x0200u) != 0);
        CHECK((result >> 15) == (bits >> 31));
        CHECK((result & 0x1FFu) == ((bits >> 13) & 0x1FFu));
    }
    CHECK(half{std::bit_cast<float>(0x7F800000u)}.bits() == 0x7C00);
}

TEST_CASE("half: comparisons are those of float") {
    half const nan = std::numeric_limits<half>::quiet_NaN();
    CHECK(half{0.0f} == half{-0.0f});
    CHECK(nan != nan);
    CHECK_FALSE((nan < half{1.0f} || nan > half{1.0f}));
    CHECK(half{-2.0f} < half{1.0f});
    CHECK(half{2.0f} >= half{1.0f});
}

TEST_CASE("half: numeric_limits name the values that they claim") {
    using limits = std::numeric_limits<half>;
    CHECK(float{(limits::max)()} == 65504.0f);
    CHECK(float{limits::lowest()} == -65504.0f);
    CHECK(float{(limits::min)()} == std::ldexp(1.0f, -14));
    CHECK(float{limits::denorm_min()} == std::ldexp(1.0f, -24));
    CHECK(float{limits::epsilon()} == std::ldexp(1.0f, -10));
    CHECK(std::isinf(float{limits::infinity()}));
    CHECK(std::isnan(float{limits::quiet_NaN()}));
    CHECK((is_nan(limits::signaling_NaN().bits()) && (limits::signaling_NaN().bits() & 0x0200u) == 0));
}
