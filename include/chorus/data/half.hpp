// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/config.hpp"

#include <bit>
#include <compare>
#include <cstdint>
#include <limits>

namespace chorus {

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits. A storage type: arithmetic is done in float.
///
/// From float: round to nearest, ties to even; beyond 65520 infinity; subnormals kept; a NaN stays a NaN, made quiet,
/// with its sign and the top bits of its payload. To float: exact (a signalling NaN is made quiet). Same bits as F16C
/// hardware.
class half {
 public:
    half() = default;
    constexpr CHORUS_HOST_DEVICE explicit half(float value) noexcept : bits_{narrow(value)} {}
    constexpr CHORUS_HOST_DEVICE explicit operator float() const noexcept { return widen(bits_); }

    static constexpr CHORUS_HOST_DEVICE half from_bits(std::uint16_t bits) noexcept {
        half made{};
        made.bits_ = bits;
        return made;
    }
    constexpr CHORUS_HOST_DEVICE std::uint16_t bits() const noexcept { return bits_; }

    friend constexpr CHORUS_HOST_DEVICE bool operator==(half a, half b) noexcept { return float{a} == float{b}; }
    friend constexpr std::partial_ordering operator<=>(half a, half b) noexcept { return float{a} <=> float{b}; }

 private:
    static constexpr CHORUS_HOST_DEVICE std::uint16_t narrow(float value) noexcept {
        std::uint32_t const bits = std::bit_cast<std::uint32_t>(value);
        std::uint32_t const sign = (bits >> 16) & 0x8000u;
        std::uint32_t const size = bits & 0x7FFFFFFFu;
        std::uint32_t result = 0;
        if (size > 0x7F800000u) {  // NaN
            result = 0x7E00u | ((size >> 13) & 0x3FFu);
        } else if (size >= 0x47800000u) {  // 65536 and more
            result = 0x7C00u;
        } else if (size >= 0x38800000u) {  // normal; 65520 and more carry into infinity
            result = (size - 0x38000000u + 0xFFFu + ((size >> 13) & 1u)) >> 13;
        } else {  // subnormal: adding 0.5, whose last bit is 2^-24, rounds to the grid of subnormals
            result = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) - 0x3F000000u;
        }
        return static_cast<std::uint16_t>(sign | result);
    }

    static constexpr CHORUS_HOST_DEVICE float widen(std::uint16_t bits) noexcept {
        std::uint32_t const sign = (bits & 0x8000u) << 16;
        std::uint32_t const size = bits & 0x7FFFu;
        std::uint32_t result = 0;
        if (size > 0x7C00u) result = ((size << 13) + 0x70000000u) | 0x00400000u;     // NaN
        else if (size == 0x7C00u) result = 0x7F800000u;                              // infinity
        else if (size >= 0x0400u) result = (size << 13) + 0x38000000u;               // normal
        else result = std::bit_cast<std::uint32_t>(static_cast<float>(size) * 0x1p-24f);  // subnormal
        return std::bit_cast<float>(sign | result);
    }

    std::uint16_t bits_;
};

}  // namespace chorus

template <> class std::numeric_limits<chorus::half> {
    using half = chorus::half;

 public:
    static constexpr bool is_specialized = true;
    static constexpr bool is_signed = true;
    static constexpr bool is_integer = false;
    static constexpr bool is_exact = false;
    static constexpr bool has_infinity = true;
    static constexpr bool has_quiet_NaN = true;
    static constexpr bool has_signaling_NaN = true;
    static constexpr bool is_iec559 = true;
    static constexpr bool is_bounded = true;
    static constexpr bool is_modulo = false;
    static constexpr int radix = 2;
    static constexpr int digits = 11;
    static constexpr int digits10 = 3;
    static constexpr int max_digits10 = 5;
    static constexpr int min_exponent = -13;
    static constexpr int max_exponent = 16;
    static constexpr int min_exponent10 = -4;
    static constexpr int max_exponent10 = 4;
    static constexpr half(min)() noexcept { return half::from_bits(0x0400); }
    static constexpr half(max)() noexcept { return half::from_bits(0x7BFF); }
    static constexpr half lowest() noexcept { return half::from_bits(0xFBFF); }
    static constexpr half epsilon() noexcept { return half::from_bits(0x1400); }
    static constexpr half infinity() noexcept { return half::from_bits(0x7C00); }
    static constexpr half quiet_NaN() noexcept { return half::from_bits(0x7E00); }
    static constexpr half signaling_NaN() noexcept { return half::from_bits(0x7D00); }
    static constexpr half denorm_min() noexcept { return half::from_bits(0x0001); }
};
