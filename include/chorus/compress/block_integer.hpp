// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/block_message.hpp"
#include "chorus/compress/detail/saved_calls.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace chorus {

/// How an element between two steps is rounded.
enum class rounding : std::uint8_t {
    nearest,    ///< ties to even
    stochastic  ///< up or down so that the mean is the element; chosen by seed, call, block and place
};
constexpr std::array<std::string_view, 2> words_of(rounding) noexcept { return {"nearest", "stochastic"}; }

/// What the steps of a block are laid over.
enum class block_scale : std::uint8_t {
    largest,  ///< -m … m, m the largest magnitude: symmetric, 2^bits - 1 values, zero among them
    range     ///< least … largest value: 2^bits values
};
constexpr std::array<std::string_view, 2> words_of(block_scale) noexcept { return {"largest", "range"}; }

/// Every element as a whole number of steps, where blocks of elements share a step.
///
/// layout    see detail/block_message.hpp: per block a step of 4 bytes (`range`: 8), then bits per element
/// bytes     16 + 4 ⌈count / block⌉ + ⌈bits · count / 8⌉, with `range` 8 per block
/// promise   stochastic: unbiased. δ by block b = min(block, count) and levels L = 127, 7, 1 (`range`: 255, 15, 3):
///           nearest: 4 L² / (4 L² + b - 1); stochastic: see detail/block_message.hpp; `range`: 1 - (b - 2) / 2 L²; 0 where
///           that is negative. For elements of at least 2^-80 (blocks below 2^-100 become zeros), with `range` up to half
///           of the largest float
/// NaN, Inf  propagate: all elements of the block become NaN
/// state     the number of calls (16 bytes), for stochastic rounding
/// symmetry  decode(-x) = -decode(x), with `largest` and nearest
struct block_integer {
    static constexpr std::string_view name = "block_integer";

    unsigned bits = 8;  ///< 8, 4 or 2
    std::size_t block = 512;  ///< a multiple of 16
    block_scale scale = block_scale::largest;
    chorus::rounding rounding = chorus::rounding::nearest;
    std::uint64_t seed = 0;
    nonfinite on_nonfinite = nonfinite::propagate;
    std::uint64_t calls = 0;  ///< so many messages were encoded

    std::size_t max_wire_bytes(std::size_t count) const { return message::max_bytes(count, coding(), is_range()); }

    compression_promise promise(std::size_t count) const {
        std::size_t const many = (std::min)(block, count);
        double const levels = static_cast<double>(coding().levels);
        bool const is_stochastic = rounding == chorus::rounding::stochastic;
        double const contraction = is_range()      ? detail::range_contraction(many, levels)
                                   : is_stochastic ? detail::stochastic_contraction(many, levels)
                                                   : detail::nearest_contraction(many, levels);
        compression_promise result{.is_unbiased = is_stochastic, .contraction = contraction, .smallest = 0x1p-80f};
        if (is_range()) result.largest /= 2;
        return result;
    }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        std::size_t const bytes =
            is_range() ? message::encode<detail::block_measure::range>(dense, wire, coding(), on_nonfinite, name)
                       : message::encode<detail::block_measure::largest>(dense, wire, coding(), on_nonfinite, name);
        ++calls;
        return bytes;
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const {
        message::decode(received, out, false, name);
    }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const {
        message::decode(received, out, true, name);
    }

    std::size_t state_bytes() const { return detail::saved_calls::bytes; }
    void save_state(std::span<std::byte> saved) const { detail::saved_calls::save(saved, format, calls, name); }
    void restore_state(std::span<std::byte const> saved) { calls = detail::saved_calls::restore(saved, format, name); }

 private:
    static constexpr auto format = detail::wire_format::block_integer;
    using message = detail::block_message<format>;

    bool is_range() const noexcept { return scale == block_scale::range; }

    detail::block_coding coding() const {
        detail::expect_code_bits(bits, name);
        detail::expect_block(block, name);
        return {.bits = bits,
                .levels = (is_range() ? 1u << bits : 1u << (bits - 1)) - 1,
                .block = block,
                .is_stochastic = rounding == chorus::rounding::stochastic,
                .seed = seed,
                .call = calls};
    }
};
static_assert(stateful_compressor<block_integer>);

}  // namespace chorus
