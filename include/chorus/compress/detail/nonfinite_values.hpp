// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/compressor.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace chorus::detail {

static_assert(std::endian::native == std::endian::little, "messages are little-endian");

inline float float_at(std::byte const* from) noexcept {
    float value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
inline void put_float(std::byte* to, float value) noexcept { std::memcpy(to, &value, sizeof value); }

/// Not NaN and not infinite; by its bits, so that -ffast-math does not take it for always true.
constexpr bool is_finite(float value) noexcept {
    return (std::bit_cast<std::uint32_t>(value) & 0x7F800000u) != 0x7F800000u;
}

/// NaN becomes 0, infinities the largest finite value of their sign.
constexpr float sanitised(float value) noexcept {
    std::uint32_t const bits = std::bit_cast<std::uint32_t>(value);
    if ((bits & 0x7F800000u) != 0x7F800000u) return value;
    if ((bits & 0x007FFFFFu) != 0) return 0.0f;
    return std::bit_cast<float>((bits & 0x80000000u) | 0x7F7FFFFFu);
}

/// Sanitises `count` floats at any address.
inline void sanitise_in(std::byte* floats, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) put_float(floats + 4 * i, sanitised(float_at(floats + 4 * i)));
}

/// The index of the first element that is not finite; the length if all are.
inline std::size_t first_nonfinite(std::span<float const> dense) noexcept {
    constexpr std::size_t block = 1024;
    for (std::size_t begin = 0; begin < dense.size(); begin += block) {
        std::size_t const end = dense.size() - begin < block ? dense.size() : begin + block;
        std::uint32_t bad = 0;
        for (std::size_t i = begin; i < end; ++i) {
            std::uint32_t const exponent = std::bit_cast<std::uint32_t>(dense[i]) & 0x7F800000u;
            bad |= exponent + 0x00800000u;  // bit 31 exactly for exponents of all ones
        }
        if (bad >> 31 == 0) continue;
        for (std::size_t i = begin; i < end; ++i)
            if (!is_finite(dense[i])) return i;
    }
    return dense.size();
}

/// Under nonfinite::refuse, raises `invalid_argument` with the index and value of the first element that is not finite.
inline void refuse_nonfinite(std::span<float const> dense, nonfinite policy, std::string_view name) {
    if (policy != nonfinite::refuse) return;
    std::size_t const at = first_nonfinite(dense);
    expects(at == dense.size(), [&] {
        std::uint32_t const bits = std::bit_cast<std::uint32_t>(dense[at]);
        std::string_view const what = (bits & 0x007FFFFFu) != 0 ? "NaN" : bits >> 31 != 0 ? "-infinity" : "infinity";
        return std::string{name} + " refuses values that are not finite: element " + std::to_string(at) + " is " +
               std::string{what};
    });
}

}  // namespace chorus::detail
