// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/block_codes.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/wire_header.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace chorus::detail {

/// The message of every compressor of block codes:
///
/// header        detail: bits of a code, plus 16 where codes are unsigned; number: elements of a block, a multiple of 16
/// grids         per block a float, the step; of unsigned codes two, the least value and the step. A step of NaN: the block
///               held something that is not finite, and all of it is decoded as NaN
/// codes         of all blocks in order, the first code in the low bits of a byte; the last byte is filled up with 0
template <wire_format Wire> struct block_message {
    static std::size_t max_bytes(std::size_t count, block_coding const& coding, bool is_range) noexcept {
        return wire_header::bytes + coding.blocks(count) * grid_bytes(is_range) + code_bytes(count, coding.bits);
    }

    template <block_measure Measure>
    static std::size_t encode(std::span<float const> dense, std::span<std::byte> wire, block_coding coding,
                              nonfinite policy, std::string_view name) {
        constexpr bool is_range = Measure == block_measure::range;
        std::size_t const count = dense.size(), bytes = max_bytes(count, coding, is_range);
        expect_room(wire, bytes, name);
        refuse_nonfinite(dense, policy, name);
        coding.sanitises = policy == nonfinite::sanitise;
        wire_header{Wire, static_cast<std::uint8_t>(coding.bits | (is_range ? 16u : 0u)), coding.block, count}.write(wire);
        std::byte* const grids = wire.data() + wire_header::bytes;
        std::byte* const codes = grids + coding.blocks(count) * grid_bytes(is_range);
        run_kernel<block_encode_kernel<Measure>>(dense.data(), count, grids, codes,
                                                 static_cast<block_coding const*>(&coding));
        return bytes;
    }

    static void decode(std::span<std::byte const> received, std::span<float> out, bool adds, std::string_view name) {
        auto const header = wire_header::read(received, Wire, out.size(), name);
        bool const is_range = (header.detail & 16u) != 0;
        block_coding coding;
        coding.bits = header.detail & 15u;
        coding.block = header.number;
        bool const is_known = (coding.bits == 2 || coding.bits == 4 || coding.bits == 8) && header.detail < 32 &&
                              coding.block != 0 && coding.block % 16 == 0;
        wire_header::expect_whole(is_known, name, [&] {
            return "codes of " + std::to_string(coding.bits) + " bits in blocks of " + std::to_string(coding.block) +
                   " are never written";
        });
        wire_header::expect_payload(received, max_bytes(out.size(), coding, is_range) - wire_header::bytes, name);
        std::byte const* const grids = received.data() + wire_header::bytes;
        std::byte const* const codes = grids + coding.blocks(out.size()) * grid_bytes(is_range);
        expect_grids(grids, coding.blocks(out.size()), is_range, name);
        unsigned const used = static_cast<unsigned>(out.size() * coding.bits % 8);
        wire_header::expect_whole(used == 0 || std::to_integer<unsigned>(received.back()) >> used == 0, name,
                                  [] { return "the bits behind the last code are not 0"; });
        auto const* const fixed = static_cast<block_coding const*>(&coding);
        if (is_range) run_kernel<block_decode_kernel<true>>(out.data(), out.size(), grids, codes, fixed, adds);
        else run_kernel<block_decode_kernel<false>>(out.data(), out.size(), grids, codes, fixed, adds);
    }

 private:
    static constexpr std::size_t grid_bytes(bool is_range) noexcept { return is_range ? 8 : 4; }

    static void expect_grids(std::byte const* grids, std::size_t blocks, bool is_range, std::string_view name) {
        for (std::size_t i = 0; i < blocks; ++i) {
            float const low = is_range ? float_at(grids + 8 * i) : 0.0f;
            float const step = float_at(grids + (is_range ? 8 * i + 4 : 4 * i));
            std::uint32_t const bits = std::bit_cast<std::uint32_t>(step);
            bool const is_step = is_finite(step) ? bits >> 31 == 0 && (bits & 0xFFu) == 0 : bits == 0x7FC00000u;
            wire_header::expect_whole(is_step && is_finite(low), name, [&] {
                return "block " + std::to_string(i) + " has a step that is never written";
            });
        }
    }
};

/// What an encoder accepts as the parameters of block codes. Raises `invalid_argument`.
inline void expect_block(std::size_t block, std::string_view name) {
    expects(block != 0 && block % 16 == 0 && block <= wire_header::largest_number, [&] {
        return std::string{name} + " needs blocks of a multiple of 16 elements, not of " + std::to_string(block);
    });
}
inline void expect_code_bits(unsigned bits, std::string_view name) {
    expects(bits == 8 || bits == 4 || bits == 2, [&] {
        return std::string{name} + " has codes of 8, 4 or 2 bits, not of " + std::to_string(bits);
    });
}

/// What is lost at most, as a share of |x|², by rounding to the nearest of 2 levels + 1 signed steps: one element tells the
/// step, and all others lie in the middle between 0 and the first step. 2^-12 of it pays for roundings.
inline double nearest_contraction(std::size_t block, double levels) noexcept {
    double const others = static_cast<double>(block) - 1;
    double const lost = others <= 0 ? 0.0 : others / (4 * levels * levels + others);
    return (1 - lost) * (1 - 0x1p-12);
}

/// The same for unsigned codes: |x|² is at least half of range², and elements lie half a step off.
inline double range_contraction(std::size_t block, double levels) noexcept {
    double const others = static_cast<double>(block) - 2;
    double const lost = others <= 0 ? 0.0 : others / (2 * levels * levels);
    return (std::max)(0.0, (1 - lost) * (1 - 0x1p-12));
}

/// The same in the mean of stochastic rounding, where the step is 1 / levels of the largest: an element of f steps loses
/// f (1 - f) in the mean. The worst f, equal for all others, is sqrt(c² + c) - c with c = levels² / others.
inline double stochastic_contraction(std::size_t block, double levels) noexcept {
    double const others = static_cast<double>(block) - 1;
    if (others <= 0) return 1 - 0x1p-12;
    double const c = levels * levels / others;
    double const f = std::sqrt(c * c + c) - c;
    return (std::max)(0.0, (1 - f * (1 - f) / (c + f * f)) * (1 - 0x1p-12));
}

}  // namespace chorus::detail
