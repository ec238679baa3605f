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

// The built-in operations on vectors, with the same bits as their call operators have on single elements. A
// comparison stands only in front of its own selection: g++ 12 takes masks that are kept as vectors of 64 bytes
// apart, word by word.

template <std::size_t Bytes> using unsigned_of = std::conditional_t<
    Bytes == 1, std::uint8_t,
    std::conditional_t<Bytes == 2, std::uint16_t, std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

template <class Op> inline constexpr bool is_bit_operation =
    std::same_as<Op, bit_and> || std::same_as<Op, bit_or> || std::same_as<Op, bit_xor>;
template <class Op> inline constexpr bool is_minimum = std::same_as<Op, minimum>;
template <class Op> inline constexpr bool is_extremum = std::same_as<Op, minimum> || std::same_as<Op, maximum>;

template <class Op, class Vector>
[[gnu::always_inline]] inline void combine_bits(Vector& a, Vector const& b) {
    if constexpr (std::same_as<Op, bit_and>) a = a & b;
    else if constexpr (std::same_as<Op, bit_or>) a = a | b;
    else a = a ^ b;
}

/// One where a word is not zero, else zero. Integers come as unsigned words: x or -x has its highest bit set unless x
/// is zero.
template <class Word, class Vector>
[[gnu::always_inline]] inline void to_truth(Vector& a) {
    Vector const zero{};
    if constexpr (std::is_integral_v<Word>) a = (a | (zero - a)) >> (8 * sizeof(Word) - 1);
    else a = a != zero ? zero + Word{1} : zero;
}

template <class Op, class Word, class Vector>
[[gnu::always_inline]] inline void combine_truth(Vector& a, Vector const& b) {
    using bits = vector_like<Vector, unsigned_of<sizeof(Word)>>;
    using bit_operation = std::conditional_t<std::same_as<Op, logical_and>, bit_and,
                                             std::conditional_t<std::same_as<Op, logical_or>, bit_or, bit_xor>>;
    Vector other = b;
    to_truth<Word>(a);
    to_truth<Word>(other);
    bits result = reinterpret_cast<bits>(a);
    combine_bits<bit_operation>(result, reinterpret_cast<bits>(other));
    a = reinterpret_cast<Vector>(result);
}

/// Both operand orders of the comparison are taken. They differ only where zeros of both signs meet, and there - must
/// win a minimum and + a maximum, or where there is a NaN: then it is among the two, and stays a NaN when their bits
/// are joined by |.
template <class Op, class Word, class Vector>
[[gnu::always_inline]] inline void combine_extremum(Vector& a, Vector const& b) {
    if constexpr (std::is_integral_v<Word>) {
        if constexpr (std::same_as<Op, minimum>) a = b < a ? b : a;
        else a = a < b ? b : a;
    } else {
        using bits = vector_like<Vector, unsigned_of<sizeof(Word)>>;
        Vector const nan = Vector{} + std::numeric_limits<Word>::quiet_NaN();
        Vector const first = is_minimum<Op> ? (a < b ? a : b) : (a > b ? a : b);
        Vector const second = is_minimum<Op> ? (b < a ? b : a) : (b > a ? b : a);
        bits const joined = reinterpret_cast<bits>(first) | reinterpret_cast<bits>(second);
        bits const common = reinterpret_cast<bits>(first) & reinterpret_cast<bits>(second);
        Vector const value = reinterpret_cast<Vector>(is_minimum<Op> ? joined : common);
        Vector const either = reinterpret_cast<Vector>(joined);
        a = either != either ? nan : value;
    }
}

/// a = a op b in every word. Sums and products of integers are given as unsigned words, which wrap.
template <class Op, class Word, class Vector>
[[gnu::always_inline]] inline void combine(Vector& a, Vector const& b) {
    if constexpr (std::same_as<Op, sum>) a = a + b;
    else if constexpr (std::same_as<Op, product>) a = a * b;
    else if constexpr (is_extremum<Op>) combine_extremum<Op, Word>(a, b);
    else if constexpr (is_bit_operation<Op>) combine_bits<Op>(a, b);
    else combine_truth<Op, Word>(a, b);
}

}  // namespace chorus::detail
