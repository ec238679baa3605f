// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace chorus::detail {

/// k of `count` indices, none twice, drawn by (seed, step) alone: every rank and machine draws the same. Every index is drawn with probability k / count.
/// Calls f(indices) with spans of up to 4096 in ascending order. k ≤ count < 2^32; O(k + count / 4096) steps; 17 KiB of stack, no allocation.
///
/// Stretches of 4096 elements get their shares of k in proportion, rounded up or down by one common random shift, which keeps the probabilities exact. Within a
/// stretch every set of that size is equally likely: Floyd's algorithm (Bentley, Floyd, "A sample of brilliance", CACM 1987) on a bitmap.
template <class F>
void for_each_drawn(std::uint64_t seed, std::uint64_t step, std::size_t count, std::size_t k, F const& f) {
    constexpr std::size_t stretch = 4096;
    if (k == 0) return;
    counter_random const random{seed, step};
    std::uint64_t const shift = random.below(0, count);
    std::array<std::uint32_t, stretch> indices;
    std::size_t before = 0;
    for (std::size_t begin = 0; begin < count; begin += stretch) {
        std::size_t const length = (std::min)(stretch, count - begin);
        std::size_t const until = (k * (begin + length) + shift) / count;  // of all elements up to here; below 2^64
        std::size_t const share = until - before;
        before = until;
        if (share == 0) continue;
        std::array<std::uint64_t, stretch / 64> drawn{};
        for (std::size_t last = length - share; last < length; ++last) {
            std::uint64_t const draw = random.below(1 + begin + last, last + 1);
            std::uint64_t const is_taken = drawn[draw / 64] >> draw % 64 & 1;
            std::uint64_t const place = is_taken != 0 ? last : draw;
            drawn[place / 64] |= std::uint64_t{1} << place % 64;
        }
        std::size_t many = 0;
        for (std::size_t word = 0; many < share; ++word)
            for (std::uint64_t left = drawn[word]; left != 0; left &= left - 1)
                indices[many++] = static_cast<std::uint32_t>(begin + 64 * word + static_cast<unsigned>(std::countr_zero(left)));
        f(std::span<std::uint32_t const>{indices.data(), many});
    }
}

}  // namespace chorus::detail
