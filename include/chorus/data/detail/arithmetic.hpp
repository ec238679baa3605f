// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/element.hpp"

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace chorus::detail {

// The rules of the built-in operations for one pair of elements; the vector kernels repeat them bit by bit.

/// A sum of 64-bit integers that cannot overflow: two's complement of 128 bits, for fewer than 2^32 ranks.
struct wide_integer {
    std::uint64_t low = 0;
    std::uint64_t high = 0;

    template <integer T> static constexpr wide_integer of(T value) noexcept {
        return {static_cast<std::uint64_t>(value), value < T{0} ? ~std::uint64_t{0} : std::uint64_t{0}};
    }

    friend constexpr wide_integer operator+(wide_integer a, wide_integer b) noexcept {
        std::uint64_t const bottom = a.low + b.low;
        return {bottom, a.high + b.high + (bottom < a.low ? 1u : 0u)};
    }

    constexpr bool is_negative() const noexcept { return (high >> 63) != 0; }
    constexpr wide_integer negated() const noexcept { return {~low + 1, ~high + (low == 0 ? 1u : 0u)}; }

    /// Low 64 bits of value / divisor for a value of no sign and a divisor below 2^32.
    constexpr std::uint64_t quotient(std::uint64_t divisor) const noexcept {
        std::uint64_t const upper = ((high % divisor) << 32) | (low >> 32);
        std::uint64_t const lower = ((upper % divisor) << 32) | (low & 0xFFFFFFFFu);
        return ((upper / divisor) << 32) | (lower / divisor);
    }
};

template <class T> concept class_with_sum =
    std::is_class_v<T> && !is_narrow_float<T> && requires(T const& a, T const& b) {
        { a + b } -> std::convertible_to<T>;
    };
template <class T> concept class_with_product =
    std::is_class_v<T> && !is_narrow_float<T> && requires(T const& a, T const& b) {
        { a * b } -> std::convertible_to<T>;
    };
template <class T> concept summable = number<T> || class_with_sum<T>;
template <class T> concept multipliable = number<T> || class_with_product<T>;
template <class T> concept bitwise = integer<T> || std::same_as<T, bool>;
template <class T> concept logical = number<T> || std::same_as<T, bool>;

/// Unsigned and at least as wide as unsigned int, so that nothing is promoted to a signed type on the way.
template <class T> using modular_t = std::common_type_t<std::make_unsigned_t<T>, unsigned>;

template <class T> constexpr T add(T const& a, T const& b) {
    if constexpr (integer<T>) return static_cast<T>(static_cast<modular_t<T>>(a) + static_cast<modular_t<T>>(b));
    else if constexpr (is_narrow_float<T>) return T{float{a} + float{b}};
    else return static_cast<T>(a + b);
}

template <class T> constexpr T multiply(T const& a, T const& b) {
    if constexpr (integer<T>) return static_cast<T>(static_cast<modular_t<T>>(a) * static_cast<modular_t<T>>(b));
    else if constexpr (is_narrow_float<T>) return T{float{a} * float{b}};
    else return static_cast<T>(a * b);
}

/// Constant evaluation has no std::signbit in C++20.
template <class T> constexpr bool has_sign_bit(T value) noexcept {
    if constexpr (std::same_as<T, float>) return (std::bit_cast<std::uint32_t>(value) >> 31) != 0;
    else if constexpr (std::same_as<T, double>) return (std::bit_cast<std::uint64_t>(value) >> 63) != 0;
    else return std::signbit(value);
}

template <class T> constexpr T lesser(T const& a, T const& b) {
    if constexpr (integer<T>) return b < a ? b : a;
    else if constexpr (is_narrow_float<T>) return T{lesser(float{a}, float{b})};
    else if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    else return a < b || (a == b && has_sign_bit(a)) ? a : b;
}

template <class T> constexpr T greater(T const& a, T const& b) {
    if constexpr (integer<T>) return a < b ? b : a;
    else if constexpr (is_narrow_float<T>) return T{greater(float{a}, float{b})};
    else if (a != a || b != b) return std::numeric_limits<T>::quiet_NaN();
    else return a > b || (a == b && has_sign_bit(b)) ? a : b;
}

template <class T> constexpr bool is_true(T const& value) {
    if constexpr (is_narrow_float<T>) return float{value} != 0.0f;
    else return value != T{};
}

template <class T> constexpr T truth(bool holds) {
    if constexpr (is_narrow_float<T>) return T{holds ? 1.0f : 0.0f};
    else return static_cast<T>(holds ? 1 : 0);
}

template <bool IsMean, class T> struct carrier { using type = T; };
template <> struct carrier<true, half> { using type = float; };
template <integer T> requires (sizeof(T) < 8) struct carrier<true, T> {
    using type = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
};
template <integer T> requires (sizeof(T) == 8) struct carrier<true, T> { using type = wide_integer; };

}  // namespace chorus::detail
