// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace chorus::detail {

/// k of `count` indices, none twice, drawn by (seed, step) alone: every rank and machine draws the same. Every index is drawn with probability k / count, to a millionth.
/// Calls f(indices) with spans of up to 4096 in ascending order, before that ahead(index) in any order for each of them, as a chance to ask for its memory.
/// k ≤ count < 2^32; O(k + count / 4096) steps; 17 KiB of stack, no allocation.
///
/// Stretches of 4096 elements get their shares of k in proportion, rounded up or down by one common random shift, which keeps the probabilities exact. Within a
/// stretch every set of that size is equally likely: Floyd's algorithm (Bentley, Floyd, "A sample of brilliance", CACM 1987) on a bitmap.
template <class Ahead, class F>
void for_each_drawn(std::uint64_t seed, std::uint64_t step, std::size_t count, std::size_t k, Ahead const& ahead, F const& f) {
    constexpr std::size_t stretch = 4096;
    constexpr std::uint64_t top = std::uint64_t{1} << 63;
    if (k == 0) return;
    counter_random const random{seed, step};
    std::uint64_t const shift = random.below(0, count);
    std::array<std::uint32_t, stretch + 1> indices;  // one more, written in vain
    std::size_t before = 0;
    for (std::size_t begin = 0; begin < count; begin += stretch) {
        std::size_t const length = (std::min)(stretch, count - begin);
        std::size_t const until = (k * (begin + length) + shift) / count;  // of all elements up to here; below 2^64
        std::size_t const share = until - before;
        before = until;
        if (share == 0) continue;
        std::array<std::uint64_t, stretch / 64> drawn{};
        for (std::size_t last = length - share; last < length; ++last) {
            std::uint64_t const draw = (random.bits(1 + begin + last) >> 32) * (last + 1) >> 32;
            std::uint64_t const is_taken = drawn[draw / 64] >> draw % 64 & 1;
            std::uint64_t const place = is_taken != 0 ? last : draw;
            drawn[place / 64] |= std::uint64_t{1} << place % 64;
            ahead(static_cast<std::size_t>(begin + place));
        }
        std::size_t many = 0;
        for (std::size_t word = 0; many < share; ++word) {
            auto const first = static_cast<std::uint32_t>(begin + 64 * word);
            std::uint64_t left = drawn[word];
            do {  // most words hold none or one, which no branch tells apart
                indices[many] = first + static_cast<std::uint32_t>(__builtin_ctzll(left | top));
                many += left != 0;
                left &= left - 1;
            } while (left != 0);
        }
        f(std::span<std::uint32_t const>{indices.data(), many});
    }
}

}  // namespace chorus::detail
