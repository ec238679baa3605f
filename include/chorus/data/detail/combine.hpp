// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/detail/lanes.hpp"
#include "chorus/data/reduction.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace chorus::detail {

// The built-in operations on vectors, with the same bits as their call operators have on single elements.

template <std::size_t Bytes> using unsigned_of = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

template <class Op> inline constexpr bool is_bit_operation =
    std::same_as<Op, bit_and> || std::same_as<Op, bit_or> || std::same_as<Op, bit_xor>;
template <class Op> inline constexpr bool is_extremum = std::same_as<Op, minimum> || std::same_as<Op, maximum>;

template <class Op, class Vector>
[[gnu::always_inline]] inline void combine_bits(Vector& a, Vector const& b) {
    if constexpr (std::same_as<Op, bit_and>) a = a & b;
    else if constexpr (std::same_as<Op, bit_or>) a = a | b;
    else a = a ^ b;
}

template <class Op, class Word, class Vector>
[[gnu::always_inline]] inline void combine_truth(Vector& a, Vector const& b) {
    Vector const zero{};
    Vector const one = zero + Word{1};
    auto held = a != zero;
    auto const other = b != zero;
    if constexpr (std::same_as<Op, logical_and>) combine_bits<bit_and>(held, other);
    else if constexpr (std::same_as<Op, logical_or>) combine_bits<bit_or>(held, other);
    else combine_bits<bit_xor>(held, other);
    a = held ? one : zero;
}

/// Both operand orders of the comparison are taken: they differ only where zeros of both signs meet (or a NaN), and there the bits are
/// joined, - winning in a minimum and + in a maximum.
template <class Op, class Word, class Vector>
[[gnu::always_inline]] inline void combine_extremum(Vector& a, Vector const& b) {
    constexpr bool is_minimum = std::same_as<Op, minimum>;
    if constexpr (std::is_integral_v<Word>) {
        if constexpr (is_minimum) a = b < a ? b : a;
        else a = a < b ? b : a;
    } else {
        using bits = vector_like<Vector, unsigned_of<sizeof(Word)>>;
        auto const has_nan = (a != a) | (b != b);
        bits joined = reinterpret_cast<bits>(a);
        if constexpr (is_minimum) {
            Vector const first = a < b ? a : b;
            Vector const second = b < a ? b : a;
            joined = reinterpret_cast<bits>(first) | reinterpret_cast<bits>(second);
        } else {
            Vector const first = a > b ? a : b;
            Vector const second = b > a ? b : a;
            joined = reinterpret_cast<bits>(first) & reinterpret_cast<bits>(second);
        }
        Vector const nan = Vector{} + std::numeric_limits<Word>::quiet_NaN();
        a = has_nan ? nan : reinterpret_cast<Vector>(joined);
    }
}

template <class Op, class Word, class Vector>
[[gnu::always_inline]] inline void combine_numbers(Vector& a, Vector const& b) {
    if constexpr (std::is_integral_v<Word>) {
        using modular = vector_like<Vector, std::make_unsigned_t<Word>>;
        if constexpr (std::same_as<Op, sum>)
            a = reinterpret_cast<Vector>(reinterpret_cast<modular>(a) + reinterpret_cast<modular>(b));
        else a = reinterpret_cast<Vector>(reinterpret_cast<modular>(a) * reinterpret_cast<modular>(b));
    } else {
        if constexpr (std::same_as<Op, sum>) a = a + b;
        else a = a * b;
    }
}

/// a = a op b in every word.
template <class Op, class Word, class Vector>
[[gnu::always_inline]] inline void combine(Vector& a, Vector const& b) {
    if constexpr (std::same_as<Op, sum> || std::same_as<Op, product>) combine_numbers<Op, Word>(a, b);
    else if constexpr (is_extremum<Op>) combine_extremum<Op, Word>(a, b);
    else if constexpr (is_bit_operation<Op>) combine_bits<Op>(a, b);
    else combine_truth<Op, Word>(a, b);
}

}  // namespace chorus::detail
