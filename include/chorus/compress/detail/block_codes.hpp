// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/sixteen.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace chorus::detail {

// Elements as whole multiples of a step that a block of them shares.
//
// A step has 16 significant bits, so that its product with a code of 8 bits is exact in float. Codes of 8, 4 or 2 bits lie
// in order, the first in the low bits of a byte. Signed ones are sign and size, the sign in their upper bit: 127, 7 or 1
// steps to either side, and minus zero is kept. Unsigned ones count steps from the block's least value.

/// What a block's step is made of.
enum class block_measure : std::uint8_t {
    largest,  ///< the largest magnitude / levels
    range,    ///< (largest value - least value) / levels; codes are unsigned
    norm,     ///< the Euclidean norm / levels
    clipped   ///< as `largest`, cut at `clip` standard deviations of the block
};

struct block_coding {
    unsigned bits = 8;
    std::uint32_t levels = 127;
    std::size_t block = 512;  ///< a multiple of 16
    double clip = 0;          ///< standard deviations, of `clipped`
    bool is_stochastic = false;
    bool sanitises = false;
    std::uint64_t seed = 0;
    std::uint64_t call = 0;

    std::size_t blocks(std::size_t count) const noexcept { return count / block + (count % block != 0); }
};

constexpr std::size_t code_bytes(std::size_t count, unsigned bits) noexcept {
    return count / 8 * bits + (count % 8 * bits + 7) / 8;
}

/// Blocks whose largest magnitude is below are sent as zeros: their steps would not be normal numbers.
inline constexpr float least_block = 0x1p-100f;

/// `width` / levels with 16 significant bits, rounded up, or down where `levels` steps would overflow.
CHORUS_HOST_DEVICE inline float block_step(float width, std::uint32_t levels) noexcept {
    if (width < least_block) return 0;
    std::uint32_t const exact = std::bit_cast<std::uint32_t>(width / static_cast<float>(levels));
    float const up = std::bit_cast<float>((exact + 0xFFu) & ~0xFFu);
    return is_finite(up * static_cast<float>(levels)) ? up : std::bit_cast<float>(exact & ~0xFFu);
}

/// low is 0 unless the measure is `range`; the step is NaN where an element was not finite.
struct block_grid {
    float low = 0;
    float step = 0;
};

template <block_measure Measure>
[[gnu::always_inline]] inline block_grid measure_block(float const* from, std::size_t count, block_coding const& coding) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    constexpr bool sums = Measure == block_measure::norm || Measure == block_measure::clipped;
    sixteen::integers most = {};
    sixteen::floats least = {}, greatest = {};
    double_sums squares, values;
    if constexpr (Measure == block_measure::range) least = greatest = least + (coding.sanitises ? sanitised(from[0]) : from[0]);
    by_sixteen(count, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
        sixteen::words bits;
        load_ahead(bits, from + i, many);
        if (coding.sanitises) sanitise_sixteen(bits);
        auto const size = reinterpret_cast<sixteen::integers>(bits & ~sixteen::sign);
        most = size > most ? size : most;
        auto value = reinterpret_cast<sixteen::floats>(bits);
        if constexpr (sums) squares.add_squares(value);
        if constexpr (Measure == block_measure::clipped) values.add(value);
        if constexpr (Measure == block_measure::range) {
            if (many < 16) {
                for (std::size_t lane = many; lane < 16; ++lane) value[lane] = value[0];
            }
            least = value < least ? value : least;
            greatest = value > greatest ? value : greatest;
        }
    });
    std::int32_t largest = 0;
    for (int lane = 0; lane < 16; ++lane) largest = (std::max)(largest, static_cast<std::int32_t>(most[lane]));
    if (largest >= 0x7F800000) return {0, nan};
    float width = std::bit_cast<float>(largest);
    auto const many = static_cast<double>(count);
    if constexpr (Measure == block_measure::norm) {
        width = static_cast<float>((std::min)(std::sqrt(squares.total()), 3.4028234663852886e38));
    } else if constexpr (Measure == block_measure::clipped) {
        double const mean = values.total() / many;
        double const spread = std::sqrt((std::max)(squares.total() / many - mean * mean, 0.0));
        if (coding.clip > 0 && coding.clip * spread < static_cast<double>(width))
            width = static_cast<float>(coding.clip * spread);
    } else if constexpr (Measure == block_measure::range) {
        float low = least[0], high = greatest[0];
        for (int lane = 1; lane < 16; ++lane) {
            low = (std::min)(low, static_cast<float>(least[lane]));
            high = (std::max)(high, static_cast<float>(greatest[lane]));
        }
        width = (std::min)(high - low, (std::numeric_limits<float>::max)());
        return {low, block_step(width, coding.levels)};
    }
    return {0, block_step(width, coding.levels)};
}

/// out[j] = in[2j] | in[2j + 1] << shift, for bytes; in may be out.
[[gnu::always_inline]] inline void pack_pairs(std::byte* out, std::byte const* in, std::size_t pairs, unsigned shift) {
    by_sixteen(pairs, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
        sixteen::shorts both;
        load_sixteen(both, in + 2 * i, many);
        both = (both | both >> (8 - shift)) & 0xFFu;
        store_sixteen(out + i, __builtin_convertvector(both, sixteen::bytes), many);
    });
}

/// The reverse: each byte becomes its low `shift` bits and the next ones.
[[gnu::always_inline]] inline void unpack_pairs(std::byte* out, std::byte const* in, std::size_t pairs, unsigned shift) {
    by_sixteen(pairs, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
        sixteen::bytes packed;
        load_sixteen(packed, in + i, many);
        sixteen::shorts both = __builtin_convertvector(packed, sixteen::shorts);
        both = (both | both << (8 - shift)) & static_cast<std::uint16_t>(((1u << shift) - 1) * 0x0101u);
        store_sixteen(out + 2 * i, both, many);
    });
}

inline constexpr std::size_t code_tile = 1024;

/// Codes of up to 1024 elements, a byte each, to `bits` each; and back. The tile is 0 behind the last code.
[[gnu::always_inline]] inline void pack_codes(std::byte* out, std::byte* tile, std::size_t count, unsigned bits) {
    std::size_t const bytes = code_bytes(count, bits);
    if (bits == 2) {
        pack_pairs(tile, tile, 2 * bytes, 2);
        pack_pairs(out, tile, bytes, 4);
    } else if (bits == 4) {
        pack_pairs(out, tile, bytes, 4);
    } else {
        std::memcpy(out, tile, bytes);
    }
}
[[gnu::always_inline]] inline void unpack_codes(std::byte* tile, std::byte const* in, std::size_t count, unsigned bits) {
    std::size_t const bytes = code_bytes(count, bits);
    if (bits == 2) {
        std::byte half[code_tile / 2];
        unpack_pairs(half, in, bytes, 4);
        unpack_pairs(tile, half, 2 * bytes, 2);
    } else if (bits == 4) {
        unpack_pairs(tile, in, bytes, 4);
    } else {
        std::memcpy(tile, in, bytes);
    }
}

/// grids: one per block. codes: code_bytes(count, bits).
template <block_measure Measure> struct block_encode_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(float const* from, std::size_t count, std::byte* grids, std::byte* codes,
                                           block_coding const* coding) {
        counter_random const keys{coding->seed, coding->call};
        for (std::size_t begin = 0, number = 0; begin < count; begin += coding->block, ++number) {
            std::size_t const many = (std::min)(coding->block, count - begin);
            block_grid const grid = measure_block<Measure>(from + begin, many, *coding);
            if constexpr (Measure == block_measure::range) {
                put_float(grids + 8 * number, grid.low);
                put_float(grids + 8 * number + 4, grid.step);
            } else {
                put_float(grids + 4 * number, grid.step);
            }
            random_words const random{keys.bits(number)};
            for (std::size_t at = 0; at < many; at += code_tile) {
                std::size_t const part = (std::min)(code_tile, many - at);
                encode_tile(from + begin + at, part, codes + code_bytes(begin + at, coding->bits), grid, random, at, *coding);
            }
        }
    }

 private:
    [[gnu::always_inline]] static void encode_tile(float const* from, std::size_t count, std::byte* out,
                                                   block_grid const& grid, random_words const& random, std::size_t at,
                                                   block_coding const& coding) {
        alignas(64) std::byte tile[code_tile + 16];
        float const inverse = grid.step > 0 ? 1.0f / grid.step : 0.0f;
        auto const levels = static_cast<float>(coding.levels);
        by_sixteen(count, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
            sixteen::words bits;
            load_sixteen(bits, from + i, many);
            if (coding.sanitises) sanitise_sixteen(bits);
            sixteen::words const sign = bits & sixteen::sign;
            auto value = reinterpret_cast<sixteen::floats>(bits);
            if constexpr (Measure == block_measure::range) value = value - grid.low;
            value = value * inverse;
            value = reinterpret_cast<sixteen::floats>(reinterpret_cast<sixteen::words>(value) & ~sixteen::sign);
            value = value < levels ? value : sixteen::floats{} + levels;  // NaN too
            sixteen::words code;
            if (coding.is_stochastic) {
                sixteen::words chance;
                random.draw(chance, at + i);
                value = value * 0x1p23f;
                auto const fixed = __builtin_convertvector(value, sixteen::integers);
                code = (reinterpret_cast<sixteen::words>(fixed) + (chance >> 9)) >> 23;
            } else {
                value = value + 0x1p23f;  // its last bit is 1: to the nearest, ties to even
                code = reinterpret_cast<sixteen::words>(value) - 0x4B000000u;
            }
            if constexpr (Measure != block_measure::range) code |= sign >> (32 - coding.bits);
            sixteen::bytes narrow;
            convert_lanes(narrow, code);
            store_sixteen(tile + i, narrow, 16);
            if (many < 16) std::fill(tile + i + many, tile + i + 16, std::byte{0});
        });
        pack_codes(out, tile, count, coding.bits);
    }
};

/// The reverse; `from` and `grids` were checked.
template <bool IsRange> struct block_decode_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(float* out, std::size_t count, std::byte const* grids, std::byte const* codes,
                                           block_coding const* coding, bool adds) {
        for (std::size_t begin = 0, number = 0; begin < count; begin += coding->block, ++number) {
            std::size_t const many = (std::min)(coding->block, count - begin);
            block_grid grid;
            if constexpr (IsRange) grid = {float_at(grids + 8 * number), float_at(grids + 8 * number + 4)};
            else grid.step = float_at(grids + 4 * number);
            for (std::size_t at = 0; at < many; at += code_tile) {
                std::size_t const part = (std::min)(code_tile, many - at);
                std::byte const* const first = codes + code_bytes(begin + at, coding->bits);
                if (adds) decode_tile<true>(out + begin + at, part, first, grid, coding->bits);
                else decode_tile<false>(out + begin + at, part, first, grid, coding->bits);
            }
        }
    }

 private:
    template <bool Adds>
    [[gnu::always_inline]] static void decode_tile(float* out, std::size_t count, std::byte const* from,
                                                   block_grid const& grid, unsigned bits) {
        alignas(64) std::byte tile[code_tile + 16];
        std::byte const* codes = from;
        if (bits != 8) unpack_codes(tile, from, count, bits), codes = tile;
        by_sixteen(count, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
            sixteen::bytes packed;
            load_sixteen(packed, codes + i, many);
            sixteen::words code;
            convert_lanes(code, packed);
            sixteen::words const size = IsRange ? code : code & ((1u << (bits - 1)) - 1);
            auto value = __builtin_convertvector(reinterpret_cast<sixteen::integers>(size), sixteen::floats) * grid.step;
            if constexpr (IsRange) {
                value = value + grid.low;
            } else {
                sixteen::words const sign = (code << (32 - bits)) & sixteen::sign;
                value = reinterpret_cast<sixteen::floats>(reinterpret_cast<sixteen::words>(value) | sign);
            }
            if constexpr (Adds) {
                sixteen::floats old;
                load_sixteen(old, out + i, many);
                value = old + value;
            }
            store_sixteen(out + i, value, many);
        });
    }
};

}  // namespace chorus::detail
