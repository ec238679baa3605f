// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/config.hpp"

#include <bit>
#include <compare>
#include <cstdint>
#include <limits>

namespace chorus {

/// The upper half of a float: 1 sign, 8 exponent and 7 fraction bits. A storage type: arithmetic is done in float.
///
/// From float: round to nearest, ties to even; beyond the largest value infinity; subnormals kept; a NaN stays a NaN,
/// made quiet, with its sign and the top bits of its payload. To float: exact, bit for bit.
class bfloat16 {
 public:
    bfloat16() = default;
    constexpr CHORUS_HOST_DEVICE explicit bfloat16(float value) noexcept : bits_{narrow(value)} {}
    constexpr CHORUS_HOST_DEVICE explicit operator float() const noexcept {
        return std::bit_cast<float>(static_cast<std::uint32_t>(bits_) << 16);
    }

    static constexpr CHORUS_HOST_DEVICE bfloat16 from_bits(std::uint16_t bits) noexcept {
        bfloat16 made{};
        made.bits_ = bits;
        return made;
    }
    constexpr CHORUS_HOST_DEVICE std::uint16_t bits() const noexcept { return bits_; }

    friend constexpr CHORUS_HOST_DEVICE bool operator==(bfloat16 a, bfloat16 b) noexcept {
        return float{a} == float{b};
    }
    friend constexpr std::partial_ordering operator<=>(bfloat16 a, bfloat16 b) noexcept {
        return float{a} <=> float{b};
    }

 private:
    static constexpr CHORUS_HOST_DEVICE std::uint16_t narrow(float value) noexcept {
        std::uint32_t const bits = std::bit_cast<std::uint32_t>(value);
        bool const is_nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
        std::uint32_t const rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
        return static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x0040u : rounded);
    }

    std::uint16_t bits_;
};

}  // namespace chorus

template <> class std::numeric_limits<chorus::bfloat16> {
    using bfloat16 = chorus::bfloat16;

 public:
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = true;
    static constexpr bool is_integer = false;
    static constexpr bool is_exact = false;
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static constexpr bool has_signaling_NaN = true;
    static constexpr bool is_iec559 = false;
    static constexpr bool is_bounded = true;
    static constexpr bool is_modulo = false;
    static constexpr int radix = 2;
    static constexpr int digits = 8;
    static constexpr int digits10 = 2;
    static constexpr int max_digits10 = 4;
    static constexpr int min_exponent = -125;
    static constexpr int max_exponent = 128;
    static constexpr int min_exponent10 = -37;
    static constexpr int max_exponent10 = 38;
    static constexpr bfloat16(min)() noexcept { return bfloat16::from_bits(0x0080); }
    static constexpr bfloat16(max)() noexcept { return bfloat16::from_bits(0x7F7F); }
    static constexpr bfloat16 lowest() noexcept { return bfloat16::from_bits(0xFF7F); }
    static constexpr bfloat16 epsilon() noexcept { return bfloat16::from_bits(0x3C00); }
    static constexpr bfloat16 infinity() noexcept { return bfloat16::from_bits(0x7F80); }
    static constexpr bfloat16 quiet_NaN() noexcept { return bfloat16::from_bits(0x7FC0); }
    static constexpr bfloat16 signaling_NaN() noexcept { return bfloat16::from_bits(0x7FA0); }
    static constexpr bfloat16 denorm_min() noexcept { return bfloat16::from_bits(0x0001); }
};
