// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/compress/detail/block_codes.hpp"
#include "chorus/cuda/detail/device_message.cuh"
#include "chorus/cuda/launch.cuh"
#include "chorus/cuda/packed_range.cuh"

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace chorus::detail {

/// Where things lie in a message of blocks; see compress/detail/block_message.hpp. Lanes of a warp take four elements at a time.
struct device_blocks {
    std::uint64_t bits;
    std::size_t block;
    std::size_t count;
    std::uint64_t is_range;

    CHORUS_HOST_DEVICE device_blocks(unsigned bits_of_code, std::size_t elements, std::size_t all, bool has_range)
        : bits{bits_of_code}, block{elements}, count{all}, is_range{has_range ? 1u : 0u} {}

    CHORUS_HOST_DEVICE std::size_t blocks() const { return count / block + (count % block != 0); }
    std::size_t threads() const { return blocks() == 0 ? 1 : 32 * blocks(); }
    std::uint32_t levels() const { return (is_range != 0 ? 1u << bits : 1u << (bits - 1)) - 1; }
    device_header header() const {
        auto const detail = static_cast<std::uint8_t>(bits | (is_range != 0 ? 16u : 0u));
        return device_header::of({wire_format::block_integer, detail, block, count});
    }
    CHORUS_HOST_DEVICE std::size_t grid_words() const { return is_range != 0 ? 2 : 1; }
    template <class Byte> CHORUS_HOST_DEVICE Byte* codes(Byte* wire, std::size_t first) const {
        return wire + wire_header::bytes + 4 * grid_words() * blocks() + first / 8 * bits;
    }
};

struct block_choices {
    std::uint64_t levels;
    std::uint32_t is_stochastic;
    std::uint32_t sanitises;
    std::uint64_t seed;
    std::uint64_t call;
};

struct quad {
    float value[4];
};

/// Up to four elements; those behind the last are 0.
__device__ inline quad load_quad(float const* from, std::size_t many) {
    quad result{};
    if (many >= 4 && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
        auto const loaded = cuda::load_pack<4>(from);
        for (int i = 0; i < 4; ++i) result.value[i] = loaded.element[i];
    } else {
        for (std::size_t i = 0; i < 4; ++i)
            if (i < many) result.value[i] = cuda::load(from + i);
    }
    return result;
}
__device__ inline void store_quad(float* to, quad const& values, std::size_t many) {
    if (many >= 4 && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
        cuda::store_pack(to, cuda::pack<float, 4>{{values.value[0], values.value[1], values.value[2], values.value[3]}});
    } else {
        for (std::size_t i = 0; i < 4; ++i)
            if (i < many) cuda::store(to + i, values.value[i]);
    }
}

/// body(0), body(1), … one after another, so that arrays which they index stay in registers.
template <class Body, std::size_t... I>
__device__ void one_after_another(Body const& body, std::index_sequence<I...>) {
    (body(I), ...);
}

/// What a lane knows of the elements of its block.
struct lane_measure {
    std::uint32_t largest = 0;  ///< bits of the largest magnitude
    float least = std::numeric_limits<float>::infinity();
    float greatest = -std::numeric_limits<float>::infinity();
    std::uint32_t first_zero = 0xFFFFFFFFu;  ///< of the zeros that which the host meets first; its sign in the lowest bit

    __device__ void add(float value, std::uint32_t place) {
        std::uint32_t const bits = std::bit_cast<std::uint32_t>(value), size = bits & 0x7FFFFFFFu;
        largest = size > largest ? size : largest;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
        std::uint32_t const sign = place == 0 ? 0u : bits >> 31;  // the host begins at 0 + its first element
        std::uint32_t const order = (place % 16 << 27 | place / 16) << 1 | sign;
        if (size == 0 && order < first_zero) first_zero = order;
    }
    __device__ void combine_warp() {
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            std::uint32_t const size = __shfl_xor_sync(0xFFFFFFFFu, largest, lanes), zero = __shfl_xor_sync(0xFFFFFFFFu, first_zero, lanes);
            float const low = __shfl_xor_sync(0xFFFFFFFFu, least, lanes), high = __shfl_xor_sync(0xFFFFFFFFu, greatest, lanes);
            largest = size > largest ? size : largest;
            first_zero = zero < first_zero ? zero : first_zero;
            least = low < least ? low : least;
            greatest = high > greatest ? high : greatest;
        }
    }
    template <bool IsRange> __device__ block_grid grid(std::uint32_t levels) const {
        if (largest >= 0x7F800000u) return {0, std::bit_cast<float>(0x7FC00000u)};
        if constexpr (!IsRange) return {0, block_step(std::bit_cast<float>(largest), levels)};
        float const low = least == 0 ? std::bit_cast<float>(first_zero << 31) : least;
        float const width = __fadd_rn(greatest, -low);
        return {low, block_step(width < std::numeric_limits<float>::max() ? width : std::numeric_limits<float>::max(), levels)};
    }
};

template <bool IsRange>
__device__ std::uint32_t code_of(float value, std::uint32_t chance, block_grid const& grid, float inverse, float levels,
                                 block_choices const& choices, unsigned bits) {
    std::uint32_t const sign = std::bit_cast<std::uint32_t>(value) & 0x80000000u;
    if constexpr (IsRange) value = __fadd_rn(value, -grid.low);
    value = __fmul_rn(value, inverse);
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu);
    value = value < levels ? value : levels;  // NaN too
    std::uint32_t code = 0;
    if (choices.is_stochastic != 0) code = (static_cast<std::uint32_t>(static_cast<std::int32_t>(__fmul_rn(value, 0x1p23f))) + (chance >> 9)) >> 23;
    else code = std::bit_cast<std::uint32_t>(__fadd_rn(value, 0x1p23f)) - 0x4B000000u;
    if constexpr (!IsRange) code |= sign >> (32 - bits);
    return code;
}

/// So many bytes hold the codes of a quad of which `many` elements are left.
__device__ inline std::size_t quad_bytes(std::size_t many, unsigned bits) { return ((many < 4 ? many : 4) * bits + 7) / 8; }

__device__ inline void store_codes(std::byte* to, std::uint32_t word, std::size_t many, unsigned bits) {
    if (many >= 4 && bits == 8) return cuda::store(reinterpret_cast<std::uint32_t*>(to), word);
    if (many >= 4 && bits == 4) return cuda::store(reinterpret_cast<std::uint16_t*>(to), static_cast<std::uint16_t>(word));
    for (std::size_t i = 0; i < quad_bytes(many, bits); ++i) cuda::store(to + i, static_cast<std::byte>(word >> 8 * i & 0xFFu));
}

/// A warp for each block: its elements stay in registers between measuring and encoding where they are at most 1024.
template <bool IsRange>
__global__ void encode_blocks_on_device(float const* dense, std::byte* wire, device_blocks where, device_header header, block_choices choices) {
    constexpr std::size_t kept_quads = 8;
    if (blockIdx.x == 0 && threadIdx.x == 0) header.write(wire);
    std::size_t const warps = std::size_t{gridDim.x} * (blockDim.x / 32);
    unsigned const lane = threadIdx.x % 32, bits = static_cast<unsigned>(where.bits);
    auto const levels = static_cast<std::uint32_t>(choices.levels);
    for (std::size_t number = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; number < where.blocks(); number += warps) {
        std::size_t const begin = number * where.block, many = where.count - begin < where.block ? where.count - begin : where.block;
        float const* const from = dense + begin;
        bool const is_kept = many <= 128 * kept_quads;
        quad kept[kept_quads];
        lane_measure measure;
        auto const measure_quad = [&](std::size_t at) {
            quad values = load_quad(from + at, many - at);
            for (std::size_t i = 0; i < 4; ++i) {
                values.value[i] = sanitised_on_device(values.value[i], choices.sanitises != 0);
                if (at + i < many) measure.add(values.value[i], static_cast<std::uint32_t>(at + i));
            }
            return values;
        };
        if (is_kept) {
            one_after_another([&](std::size_t i) {
                if (128 * i + 4 * lane < many) kept[i] = measure_quad(128 * i + 4 * lane);
            }, std::make_index_sequence<kept_quads>{});
        } else {
            for (std::size_t at = 4 * lane; at < many; at += 128) measure_quad(at);
        }
        measure.combine_warp();
        block_grid const grid = measure.template grid<IsRange>(levels);
        auto* const grids = reinterpret_cast<float*>(wire + wire_header::bytes) + where.grid_words() * number;
        if (lane == 0 && IsRange) cuda::store(grids, grid.low);
        if (lane == 0) cuda::store(grids + where.grid_words() - 1, grid.step);
        float const inverse = grid.step > 0 ? __fdiv_rn(1.0f, grid.step) : 0.0f;
        random_words const random{counter_random{choices.seed, choices.call}.bits(number)};
        auto const encode_quad = [&](quad const& values, std::size_t at) {
            std::uint32_t word = 0;
            for (std::size_t i = 0; i < 4; ++i) {
                std::uint32_t const chance = random.word(static_cast<std::uint32_t>(at + i));
                std::uint32_t const code =
                    code_of<IsRange>(values.value[i], chance, grid, inverse, static_cast<float>(levels), choices, bits);
                if (at + i < many) word |= code << i * bits;
            }
            store_codes(where.codes(wire, begin) + at * bits / 8, word, many - at, bits);
        };
        if (is_kept) {
            one_after_another([&](std::size_t i) {
                if (128 * i + 4 * lane < many) encode_quad(kept[i], 128 * i + 4 * lane);
            }, std::make_index_sequence<kept_quads>{});
        } else {
            for (std::size_t at = 4 * lane; at < many; at += 128) {
                quad values = load_quad(from + at, many - at);
                for (float& value : values.value) value = sanitised_on_device(value, choices.sanitises != 0);
                encode_quad(values, at);
            }
        }
    }
}

__device__ inline std::uint32_t load_codes(std::byte const* from, std::size_t many, unsigned bits) {
    if (many >= 4 && bits == 8) return cuda::load(reinterpret_cast<std::uint32_t const*>(from));
    if (many >= 4 && bits == 4) return cuda::load(reinterpret_cast<std::uint16_t const*>(from));
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < quad_bytes(many, bits); ++i)
        word |= static_cast<std::uint32_t>(cuda::load(from + i)) << 8 * i;
    return word;
}

template <bool IsRange, bool Adds>
__global__ void decode_blocks_on_device(std::byte const* wire, float* out, device_blocks where, device_header header, std::uint32_t* refused) {
    if (!is_expected(header, wire, refused)) return;
    std::size_t const warps = std::size_t{gridDim.x} * (blockDim.x / 32);
    unsigned const lane = threadIdx.x % 32, bits = static_cast<unsigned>(where.bits);
    for (std::size_t number = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32; number < where.blocks(); number += warps) {
        std::size_t const begin = number * where.block, many = where.count - begin < where.block ? where.count - begin : where.block;
        auto const* const grids = reinterpret_cast<float const*>(wire + wire_header::bytes) + where.grid_words() * number;
        float step = lane == 0 ? cuda::load(grids + where.grid_words() - 1) : 0.0f;
        step = __shfl_sync(0xFFFFFFFFu, step, 0);
        float low = IsRange && lane == 0 ? cuda::load(grids) : 0.0f;
        if constexpr (IsRange) low = __shfl_sync(0xFFFFFFFFu, low, 0);
        for (std::size_t at = 4 * lane; at < many; at += 128) {
            std::uint32_t const word = load_codes(where.codes(wire, begin) + at * bits / 8, many - at, bits);
            quad values = Adds ? load_quad(out + begin + at, many - at) : quad{};
            for (unsigned i = 0; i < 4; ++i) {
                std::uint32_t const code = word >> i * bits & ((1u << bits) - 1);
                std::uint32_t const size = IsRange ? code : code & ((1u << (bits - 1)) - 1);
                float value = __fmul_rn(static_cast<float>(size), step);
                if constexpr (IsRange) value = __fadd_rn(value, low);
                else value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | (code << (32 - bits) & 0x80000000u));
                values.value[i] = Adds ? __fadd_rn(values.value[i], value) : value;
            }
            store_quad(out + begin + at, values, many - at);
        }
    }
}

inline void decode_blocks(std::size_t bytes, device_blocks const& blocks, cuda::device_span<std::byte const> received,
                          cuda::device_span<float> out, bool adds, std::uint32_t* refused, std::string_view name, cudaStream_t stream) {
    expect_decodable(received, bytes, name);
    auto* kernel = adds ? decode_blocks_on_device<false, true> : decode_blocks_on_device<false, false>;
    if (blocks.is_range != 0) kernel = adds ? decode_blocks_on_device<true, true> : decode_blocks_on_device<true, false>;
    cuda::launch(kernel, cuda::streaming_grid(blocks.threads()), cuda::threads_of_streaming, 0, stream, received.data(), out.data(), blocks,
                 blocks.header(), refused);
}

}  // namespace chorus::detail
