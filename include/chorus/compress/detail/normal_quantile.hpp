// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace chorus::detail {

/// The binary logarithm times 65536, rounded down, of a value ≥ 1.
constexpr std::uint64_t fixed_log2(std::uint64_t value) noexcept {
    auto const whole = static_cast<unsigned>(std::bit_width(value)) - 1;
    std::uint64_t rest = whole > 31 ? value >> (whole - 31) : value << (31 - whole);  // in [1, 2), times 2^31
    std::uint64_t result = whole;
    for (int bit = 0; bit < 16; ++bit) {
        rest = rest * rest >> 31;
        result = 2 * result + (rest >> 32);
        rest >>= rest >> 32;
    }
    return result;
}

/// How many standard deviations a normal variable is off its mean with the probability part / whole, 1 ≤ part ≤ whole, to about 1 %.
/// By integers: the same on every machine.
constexpr double normal_quantile(std::uint64_t part, std::uint64_t whole) noexcept {
    // Times 65536, for probabilities of 2^-0, 2^-1, …
    constexpr std::uint64_t quantiles[] = {0,      44203,  75389,  100540, 122076, 141156, 158437, 174330, 189113, 202983, 216085, 228531,
                                           240408, 251785, 262719, 273257, 283438, 293295, 302857, 312148, 321190, 330000, 338597, 346994,
                                           355204, 363239, 371111, 378827, 386397, 393829, 401130, 408306, 415364, 422310};
    std::uint64_t const halvings = fixed_log2(whole) - (std::min)(fixed_log2(part), fixed_log2(whole));
    std::uint64_t const row = (std::min)(halvings >> 16, std::uint64_t{std::size(quantiles) - 2});
    std::uint64_t const rest = (std::min)(halvings - (row << 16), std::uint64_t{65536});
    std::uint64_t const scaled = quantiles[row] * 65536 + (quantiles[row + 1] - quantiles[row]) * rest;
    return static_cast<double>(scaled) * 0x1p-32;
}

}  // namespace chorus::detail
