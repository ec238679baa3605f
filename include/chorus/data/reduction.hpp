// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/element.hpp"
#include "chorus/data/detail/arithmetic.hpp"

#include <concepts>
#include <string_view>
#include <type_traits>

namespace chorus {

// The operations of reductions: empty values with a name, callable on two elements. Each gives the same bits for one
// pair of elements on every instruction set, in vectors and one by one. Built-in operations refuse bool where a
// number is meant, at compile time. half and bfloat16 are computed in float and rounded once.

/// a + b. Integers wrap modulo 2^n, never saturate. A class with operator+ may be summed; it is taken to be
/// commutative.
struct sum {
    static constexpr std::string_view name = "sum";
    template <class T> requires detail::summable<T>
    constexpr T operator()(T const& a, T const& b) const { return detail::add(a, b); }
};

/// a * b. Integers wrap modulo 2^n, never saturate. A class with operator* may be used; it is taken to be commutative.
struct product {
    static constexpr std::string_view name = "product";
    template <class T> requires detail::multipliable<T>
    constexpr T operator()(T const& a, T const& b) const { return detail::multiply(a, b); }
};

/// The lesser. -0 is less than +0, and a NaN on either side gives the one quiet NaN of numeric_limits: the result
/// does not depend on the order of the operands.
struct minimum {
    static constexpr std::string_view name = "minimum";
    template <detail::number T>
    constexpr T operator()(T const& a, T const& b) const { return detail::lesser(a, b); }
};

/// The greater. +0 is greater than -0, and a NaN on either side gives the one quiet NaN of numeric_limits.
struct maximum {
    static constexpr std::string_view name = "maximum";
    template <detail::number T>
    constexpr T operator()(T const& a, T const& b) const { return detail::greater(a, b); }
};

/// The sum over the ranks divided by their number p. Two elements are combined by adding; the reducer divides at the
/// end.
///
/// Between the two ends the values travel as `carrier_t<mean, T>`. half: float. Integers: sums that cannot overflow,
/// of 64 or 128 bits, and a division that truncates toward zero. float, double, bfloat16: their own type, scaled
/// before by the exact power of two 2^-ceil(log2 p), so that the sum is finite wherever the mean is; the last
/// division is correctly rounded. Only inputs smaller than p times the smallest normal number lose low bits to
/// gradual underflow.
struct mean {
    static constexpr std::string_view name = "mean";
    template <detail::number T>
    constexpr T operator()(T const& a, T const& b) const { return detail::add(a, b); }
};

/// a & b on integers and bool.
struct bit_and {
    static constexpr std::string_view name = "bit_and";
    template <class T> requires detail::bitwise<T>
    constexpr T operator()(T const& a, T const& b) const { return static_cast<T>(a & b); }
};

/// a | b on integers and bool.
struct bit_or {
    static constexpr std::string_view name = "bit_or";
    template <class T> requires detail::bitwise<T>
    constexpr T operator()(T const& a, T const& b) const { return static_cast<T>(a | b); }
};

/// a ^ b on integers and bool.
struct bit_xor {
    static constexpr std::string_view name = "bit_xor";
    template <class T> requires detail::bitwise<T>
    constexpr T operator()(T const& a, T const& b) const { return static_cast<T>(a ^ b); }
};

/// Whether both are non-zero, as T(0) or T(1); a bool is stored as exactly 0 or 1. A NaN counts as non-zero.
struct logical_and {
    static constexpr std::string_view name = "logical_and";
    template <class T> requires detail::logical<T>
    constexpr T operator()(T const& a, T const& b) const {
        return detail::truth<T>(detail::is_true(a) && detail::is_true(b));
    }
};

/// Whether one is non-zero, as T(0) or T(1).
struct logical_or {
    static constexpr std::string_view name = "logical_or";
    template <class T> requires detail::logical<T>
    constexpr T operator()(T const& a, T const& b) const {
        return detail::truth<T>(detail::is_true(a) || detail::is_true(b));
    }
};

/// Whether exactly one is non-zero, as T(0) or T(1).
struct logical_xor {
    static constexpr std::string_view name = "logical_xor";
    template <class T> requires detail::logical<T>
    constexpr T operator()(T const& a, T const& b) const {
        return detail::truth<T>(detail::is_true(a) != detail::is_true(b));
    }
};

/// Promises that a user's operation is commutative, so that algorithms may combine ranks in any order.
template <class F> struct commutative {
    F function;
    template <class T> requires std::is_invocable_r_v<T, F const&, T const&, T const&>
    constexpr T operator()(T const& a, T const& b) const { return static_cast<T>(function(a, b)); }
};
template <class F> commutative(F) -> commutative<F>;

namespace detail {

template <class Op> inline constexpr bool is_built_in = false;
template <> inline constexpr bool is_built_in<sum> = true;
template <> inline constexpr bool is_built_in<product> = true;
template <> inline constexpr bool is_built_in<minimum> = true;
template <> inline constexpr bool is_built_in<maximum> = true;
template <> inline constexpr bool is_built_in<mean> = true;
template <> inline constexpr bool is_built_in<bit_and> = true;
template <> inline constexpr bool is_built_in<bit_or> = true;
template <> inline constexpr bool is_built_in<bit_xor> = true;
template <> inline constexpr bool is_built_in<logical_and> = true;
template <> inline constexpr bool is_built_in<logical_or> = true;
template <> inline constexpr bool is_built_in<logical_xor> = true;

}  // namespace detail

/// Whether a op b == b op a: known of the built-in operations, promised by `commutative`, doubted otherwise.
template <class Op> inline constexpr bool is_commutative = detail::is_built_in<Op>;
template <class F> inline constexpr bool is_commutative<commutative<F>> = true;

/// What can reduce elements of type T: a built-in operation that is meant for T, or any associative function (T, T)
/// -> T. An operation is called from whichever thread drives the plan, and is not told the order of elements.
template <class Op, class T> concept reduction_for =
    element<T> && std::copy_constructible<Op> && std::is_invocable_r_v<T, Op const&, T const&, T const&>;

/// What the elements travel as between the first and the last step of a reduction: T itself, except for `mean`.
template <class Op, class T> using carrier_t = typename detail::carrier<std::same_as<Op, mean>, T>::type;

}  // namespace chorus
