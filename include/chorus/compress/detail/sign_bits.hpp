// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/sixteen.hpp"
#include "chorus/compress/detail/wire_header.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace chorus::detail {

// A bit for each element: bit i % 8 of byte i / 8 is that of element i. The last byte is filled up with 0.

constexpr std::size_t sign_bytes(std::size_t count) noexcept { return count / 8 + (count % 8 != 0); }

/// Sixteen bits for the elements i …, i a multiple of 16.
[[gnu::always_inline]] inline void put_mask(std::byte* bits, std::size_t i, std::uint32_t mask, std::size_t many) {
    if (many < 16) mask &= (1u << many) - 1;
    bits[i / 8] = static_cast<std::byte>(mask & 0xFFu);
    if (many > 8) bits[i / 8 + 1] = static_cast<std::byte>(mask >> 8);
}
[[gnu::always_inline]] inline std::uint32_t get_mask(std::byte const* bits, std::size_t i, std::size_t many) {
    std::uint32_t mask = std::to_integer<std::uint32_t>(bits[i / 8]);
    if (many > 8) mask |= std::to_integer<std::uint32_t>(bits[i / 8 + 1]) << 8;
    return mask;
}

/// The sign bit of a float in each lane whose bit is set.
[[gnu::always_inline]] inline void signs_of(sixteen::words& signs, std::uint32_t mask) {
    sixteen::words const all = sixteen::words{} + mask;
    signs = reinterpret_cast<sixteen::words>((all & sixteen::bit) != 0u) & sixteen::sign;
}

/// Raises `corrupt` if the bits behind the last one are not 0. `received` ends with them.
inline void expect_unused_signs(std::span<std::byte const> received, std::size_t count, std::string_view name) {
    bool const is_filled = count % 8 == 0 || std::to_integer<unsigned>(received.back()) >> (count % 8) == 0;
    wire_header::expect_whole(is_filled, name, [] { return "the bits behind the last one are not 0"; });
}

/// Sums of magnitudes. They are not finite exactly if an element is not: doubles hold the sum of any floats.
struct sign_sums {
    double positive = 0;  ///< of elements that are not below 0; where they are not told apart, of all
    double negative = 0;  ///< of elements below 0
    std::size_t negatives = 0;  ///< how many are below 0
};

/// Bits are set for elements below 0: not for a zero of either sign, nor for NaN. IsSplit: sums tell the two kinds apart.
template <bool IsSplit, bool Sanitises> struct sign_encode_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(float const* from, std::size_t count, std::byte* bits, sign_sums* sums) {
        double_sums above, below;
        std::size_t negatives = 0;
        by_sixteen(count, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
            sixteen::words word;
            load_bits<Sanitises>(word, from + i, many);
            sixteen::integers const is_below = reinterpret_cast<sixteen::floats>(word) < 0.0f;
            std::uint32_t const mask = mask_of(is_below);
            put_mask(bits, i, mask, many);
            sixteen::words const size = word & ~sixteen::sign;
            if constexpr (!IsSplit) {
                above.add(reinterpret_cast<sixteen::floats>(size));
            } else {
                above.add(reinterpret_cast<sixteen::floats>(size & ~reinterpret_cast<sixteen::words>(is_below)));
                below.add(reinterpret_cast<sixteen::floats>(size & reinterpret_cast<sixteen::words>(is_below)));
                negatives += static_cast<std::size_t>(__builtin_popcount(mask));
            }
        });
        *sums = {above.total(), below.total(), negatives};
    }
};

/// out is, or grows by, `low` where the bit is set, `high` elsewhere.
template <bool Adds> struct sign_decode_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(float* out, std::size_t count, std::byte const* bits, float low, float high) {
        sixteen::words const lows = reinterpret_cast<sixteen::words>(sixteen::floats{} + low);
        sixteen::words const highs = reinterpret_cast<sixteen::words>(sixteen::floats{} + high);
        by_sixteen(count, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
            sixteen::words const mask = sixteen::words{} + get_mask(bits, i, many);
            sixteen::words word;
            select_words(word, (mask & sixteen::bit) != 0u, lows, highs);
            auto value = reinterpret_cast<sixteen::floats>(word);
            if constexpr (Adds) {
                sixteen::floats old;
                load_sixteen(old, out + i, many);
                value = old + value;
            }
            store_sixteen(out + i, value, many);
        });
    }
};

/// Writes the bits of `dense` and returns its sums.
template <bool IsSplit>
sign_sums encode_signs(std::span<float const> dense, std::byte* bits, bool sanitises) {
    sign_sums sums;
    if (sanitises) run_kernel<sign_encode_kernel<IsSplit, true>>(dense.data(), dense.size(), bits, &sums);
    else run_kernel<sign_encode_kernel<IsSplit, false>>(dense.data(), dense.size(), bits, &sums);
    return sums;
}

/// A mean of magnitudes as messages hold it: 0 of nothing, the one NaN where something was not finite.
inline float mean_magnitude(double sum, std::size_t count) noexcept {
    if (!std::isfinite(sum)) return std::numeric_limits<float>::quiet_NaN();
    return count == 0 ? 0.0f : static_cast<float>(sum / static_cast<double>(count));
}
inline bool is_mean_magnitude(float value) noexcept {
    std::uint32_t const bits = std::bit_cast<std::uint32_t>(value);
    return bits < sixteen::infinity || bits == 0x7FC00000u;
}

inline void decode_signs(std::span<float> out, std::byte const* bits, float low, float high, bool adds) {
    if (adds) run_kernel<sign_decode_kernel<true>>(out.data(), out.size(), bits, low, high);
    else run_kernel<sign_decode_kernel<false>>(out.data(), out.size(), bits, low, high);
}

}  // namespace chorus::detail
