// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/data/reduction.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

using namespace chorus;

namespace {

template <class Op, class... T> constexpr bool takes_all = (reduction_for<Op, T> && ...);
template <class Op, class... T> constexpr bool takes_none = (!reduction_for<Op, T> && ...);

template <class Real> using bits_of = std::conditional_t<
    sizeof(Real) == 2, std::uint16_t, std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>>;
template <class Real> auto bits(Real value) { return std::bit_cast<bits_of<Real>>(value); }

template <class Real> Real real(double value) { return Real(static_cast<wide_t<Real>>(value)); }

template <class Real> std::vector<Real> awkward_values() {
    using limits = std::numeric_limits<Real>;
    return {real<Real>(0.0), real<Real>(-0.0), real<Real>(1.0), real<Real>(-1.0), (limits::min)(), limits::denorm_min(),
            (limits::max)(), limits::lowest(), limits::infinity(), real<Real>(-HUGE_VAL), limits::quiet_NaN(),
            limits::signaling_NaN(), real<Real>(-3.5)};
}

template <class Real> bool is_nan(Real value) { return value != value; }

template <class Op, class Real> void check_order_does_not_matter() {
    std::vector<Real> const values = awkward_values<Real>();
    Op const op;
    for (Real a : values)
        for (Real b : values) {
            REQUIRE(bits(op(a, b)) == bits(op(b, a)));
            REQUIRE(is_nan(op(a, b)) == (is_nan(a) || is_nan(b)));
            for (Real c : values) REQUIRE(bits(op(op(a, b), c)) == bits(op(a, op(b, c))));
        }
}

struct concatenation {  // associative, not commutative
    std::uint32_t operator()(std::uint32_t a, std::uint32_t b) const { return a * 10 + b; }
};

}  // namespace

// DTY-5: a bool is no number.
static_assert(takes_none<sum, bool> && takes_none<product, bool> && takes_none<mean, bool>);
static_assert(takes_none<minimum, bool> && takes_none<maximum, bool>);
static_assert(takes_all<logical_and, bool, int, float, half> && takes_all<bit_xor, bool, int, std::uint8_t>);
static_assert(takes_all<sum, float, double, half, bfloat16, std::int8_t, std::uint64_t, long double, char>);
static_assert(takes_none<bit_and, float, half, double, std::byte> && takes_none<sum, std::byte>);
static_assert(takes_all<sum, std::complex<float>> && takes_none<minimum, std::complex<float>>);
static_assert(takes_all<concatenation, std::uint32_t> && takes_none<concatenation, std::vector<int>>);

static_assert(is_commutative<sum> && is_commutative<logical_xor> && is_commutative<mean>);
static_assert(!is_commutative<concatenation> && is_commutative<commutative<concatenation>>);

static_assert(std::same_as<carrier_t<mean, half>, float> && std::same_as<carrier_t<mean, bfloat16>, bfloat16>);
static_assert(std::same_as<carrier_t<mean, float>, float> && std::same_as<carrier_t<sum, half>, half>);
static_assert(std::same_as<carrier_t<mean, std::int8_t>, std::int64_t>);
static_assert(std::same_as<carrier_t<mean, std::uint32_t>, std::uint64_t>);
static_assert(sizeof(carrier_t<mean, std::uint64_t>) == 16 && sizeof(carrier_t<mean, std::int64_t>) == 16);

// DTY-1: integers wrap, in constant evaluation too, where undefined behaviour would not compile.
static_assert(sum{}(std::int16_t{16384}, std::int16_t{16384}) == -32768);
static_assert(sum{}(std::uint8_t{200}, std::uint8_t{100}) == 44);
static_assert(sum{}(std::int8_t{120}, std::int8_t{100}) == -36);
static_assert(sum{}((std::numeric_limits<int>::max)(), 1) == std::numeric_limits<int>::lowest());
static_assert(product{}(std::uint16_t{65535}, std::uint16_t{65535}) == 1);
static_assert(product{}(std::numeric_limits<std::int64_t>::lowest(), std::int64_t{-1}) ==
              std::numeric_limits<std::int64_t>::lowest());
static_assert(bit_xor{}(true, true) == false && logical_or{}(2, 0) == 1);

TEST_CASE("NAN-1 NUM-6: minimum and maximum do not depend on order: a NaN wins, -0 is less than +0") {
    check_order_does_not_matter<minimum, float>();
    check_order_does_not_matter<maximum, float>();
    check_order_does_not_matter<minimum, double>();
    check_order_does_not_matter<maximum, double>();
    check_order_does_not_matter<minimum, half>();
    check_order_does_not_matter<maximum, half>();
    check_order_does_not_matter<minimum, bfloat16>();
    check_order_does_not_matter<maximum, bfloat16>();
    CHECK(std::signbit(minimum{}(0.0f, -0.0f)));
    CHECK_FALSE(std::signbit(maximum{}(-0.0f, 0.0f)));
    CHECK(std::signbit(static_cast<double>(minimum{}(0.0L, -0.0L))));
    CHECK(minimum{}(-1.0, 2.0) == -1.0);
    CHECK(maximum{}(half{-1.0f}, half{2.0f}) == half{2.0f});
}

TEST_CASE("DTY-2: unsigned extremes compare as unsigned") {
    auto check = []<class T>(T) {
        T const top = (std::numeric_limits<T>::max)();
        CHECK(minimum{}(top, T{0}) == 0);
        CHECK(maximum{}(T{0}, top) == top);
    };
    check(std::uint8_t{});
    check(std::uint16_t{});
    check(std::uint32_t{});
    check(std::uint64_t{});
}

TEST_CASE("sum, product, logical operations of every element are those of arithmetic") {
    for (int a = -9; a < 10; ++a)
        for (int b = -9; b < 10; ++b) {
            auto check = [&]<class T>(T) {
                T const x = real<T>(a), y = real<T>(b);
                REQUIRE(sum{}(x, y) == real<T>(a + b));
                REQUIRE(mean{}(x, y) == real<T>(a + b));
                REQUIRE(product{}(x, y) == real<T>(a * b));
                REQUIRE(minimum{}(x, y) == real<T>(a < b ? a : b));
                REQUIRE(maximum{}(x, y) == real<T>(a < b ? b : a));
                REQUIRE(logical_and{}(x, y) == real<T>(a != 0 && b != 0));
                REQUIRE(logical_or{}(x, y) == real<T>(a != 0 || b != 0));
                REQUIRE(logical_xor{}(x, y) == real<T>((a != 0) != (b != 0)));
            };
            check(std::int8_t{});
            check(std::int64_t{});
            check(float{});
            check(double{});
            check(half{});
            check(bfloat16{});
        }
}

TEST_CASE("sums of narrow floats are exact sums rounded once") {
    for (std::uint32_t i = 0; i < 0x7C00u; i += 37)
        for (std::uint32_t j = 0; j < 0x7C00u; j += 997) {
            half const a = half::from_bits(static_cast<std::uint16_t>(i));
            half const b = half::from_bits(static_cast<std::uint16_t>(j | 0x8000u));
            double const exact = static_cast<double>(float{a}) + static_cast<double>(float{b});
            half const result = sum{}(a, b);
            half const above = half::from_bits(static_cast<std::uint16_t>(result.bits() + 1));
            double const error = std::abs(static_cast<double>(float{result}) - exact);
            double const gap = std::abs(static_cast<double>(float{above}) - static_cast<double>(float{result}));
            REQUIRE(error <= gap / 2);
        }
}

TEST_CASE("commutative passes the user's function on") {
    commutative const wrapped{[](int a, int b) { return a * 3 + b; }};
    CHECK(wrapped(2, 5) == 11);
    CHECK(is_commutative<std::remove_const_t<decltype(wrapped)>>);
}

TEST_CASE("a 128-bit sum carries, and divides toward zero") {
    using wide = detail::wide_integer;
    std::int64_t const low = std::numeric_limits<std::int64_t>::lowest();
    wide total = wide::of(low);
    for (int i = 1; i < 7; ++i) total = total + wide::of(low);
    CHECK(total.is_negative());
    CHECK(total.negated().quotient(7) == std::uint64_t{1} << 63);
    wide top{};
    for (int i = 0; i < 1000; ++i) top = top + wide::of((std::numeric_limits<std::uint64_t>::max)());
    CHECK_FALSE(top.is_negative());
    CHECK(top.quotient(1000) == (std::numeric_limits<std::uint64_t>::max)());
}
