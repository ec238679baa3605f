// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/detail/arithmetic.hpp"

#include <bit>
#include <cstdint>
#include <type_traits>

namespace chorus::detail {

// The two ends of `mean` for one element, for 1 <= ranks < 2^32: integers are widened before and divided after; float, double and bfloat16
// are multiplied before and divided after; half is only divided, after.

/// The exponent of the power of two by which values are scaled down: ceil(log2 ranks).
constexpr int mean_shift(std::uint64_t ranks) noexcept {
    return ranks < 2 ? 0 : static_cast<int>(std::bit_width(ranks - 1));
}

/// An exact power of two.
template <class Word> constexpr Word mean_factor(std::uint64_t ranks) noexcept {
    return Word{1} / static_cast<Word>(std::uint64_t{1} << mean_shift(ranks));
}

/// ranks / 2^shift, exact below 2^24 ranks, so that the one division rounds sum / ranks correctly. 1 of a power of two.
template <class Word> constexpr Word mean_divisor(std::uint64_t ranks) noexcept {
    return static_cast<Word>(ranks) / static_cast<Word>(std::uint64_t{1} << mean_shift(ranks));
}

template <integer T> constexpr typename carrier<true, T>::type mean_widened(T value) noexcept {
    if constexpr (sizeof(T) == 8) return wide_integer::of(value);
    else return static_cast<typename carrier<true, T>::type>(value);
}

/// Truncates toward zero.
template <integer T> constexpr T mean_quotient(typename carrier<true, T>::type total, std::uint64_t ranks) noexcept {
    if constexpr (sizeof(T) < 8) {
        return static_cast<T>(total / static_cast<typename carrier<true, T>::type>(ranks));
    } else if constexpr (std::is_signed_v<T>) {
        if (total.is_negative()) return static_cast<T>(0 - total.negated().quotient(ranks));
        return static_cast<T>(total.quotient(ranks));
    } else {
        return static_cast<T>(total.quotient(ranks));
    }
}

}  // namespace chorus::detail
