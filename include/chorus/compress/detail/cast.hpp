// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/sixteen.hpp"
#include "chorus/compress/detail/wire_header.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace chorus::detail {

/// A narrow float: sign, exponent with `Bias`, `Fraction` bits. `Largest` is the float of its largest finite value. With
/// `HasInfinity` as IEEE 754 has it; without, all bits set is the only NaN, and what is finite and too large becomes the
/// largest.
template <class Storage, unsigned Fraction, unsigned Bias, std::uint32_t Largest, bool HasInfinity>
struct narrow_format {
    using storage = Storage;
    static constexpr unsigned fraction = Fraction;
    static constexpr unsigned shift = 23 - Fraction;
    static constexpr std::uint32_t rebias = (127 - Bias) << 23;
    static constexpr std::uint32_t least_normal = (128 - Bias) << 23;  ///< as a float's bits
    static constexpr std::uint32_t largest = Largest;
    static constexpr bool has_infinity = HasInfinity;
    static constexpr unsigned sign_shift = 32 - 8 * sizeof(Storage);
    static constexpr std::uint32_t special = (1u << (8 * sizeof(Storage) - 1)) - (HasInfinity ? 1u << Fraction : 1u);
    static constexpr std::uint32_t quiet = HasInfinity ? special | 1u << (Fraction - 1) : special;
    static constexpr std::uint32_t last = (1u << (8 * sizeof(Storage) - 1)) - 2;  ///< without infinity: the largest
    static constexpr float step = static_cast<float>(1.0 / (std::uint64_t{1} << (Fraction + Bias - 1)));  ///< of subnormals
};

using half_format = narrow_format<std::uint16_t, 10, 15, 0x477FE000u, true>;          // 65504
using float8_e4m3_format = narrow_format<std::uint8_t, 3, 7, 0x43E00000u, false>;     // 448
using float8_e5m2_format = narrow_format<std::uint8_t, 2, 15, 0x47600000u, true>;     // 57344

struct bfloat16_format {
    using storage = std::uint16_t;
    static constexpr unsigned fraction = 7;
    static constexpr std::uint32_t least_normal = 0x00800000u;
    static constexpr std::uint32_t largest = 0x7F7F0000u;
};

/// Rounds to nearest, ties to even; the result is in the low bits. Every branch is computed and one selected.
template <class Format>
[[gnu::always_inline]] inline void narrow(sixteen::words& bits) {
    sixteen::words const size = bits & ~sixteen::sign;
    auto const number = reinterpret_cast<sixteen::integers>(size);
    if constexpr (std::is_same_v<Format, bfloat16_format>) {
        sixteen::words const rounded = bits + 0x7FFFu + ((bits >> 16) & 1u);
        sixteen::words const quiet = bits | 0x00400000u;
        bits = number > 0x7F800000 ? quiet : rounded;
        bits >>= 16;
    } else {
        constexpr float grid = Format::step * 0x1p23f;  // the float whose last bit is a step of subnormals
        sixteen::words const signs = (bits & sixteen::sign) >> Format::sign_shift;
        sixteen::floats const raised = reinterpret_cast<sixteen::floats>(size) + grid;
        constexpr std::uint32_t grid_bits = std::bit_cast<std::uint32_t>(grid);
        sixteen::words const subnormal = reinterpret_cast<sixteen::words>(raised) - grid_bits;
        constexpr std::uint32_t half_step = (1u << (Format::shift - 1)) - 1;
        sixteen::words result = (size - Format::rebias + half_step + ((size >> Format::shift) & 1u)) >> Format::shift;
        result = number < static_cast<std::int32_t>(Format::least_normal) ? subnormal : result;
        if constexpr (Format::has_infinity) {
            sixteen::words infinite = {};  // a sum of {} and the constant makes nvcc 13.0 crash
            infinite += Format::special;
            result = number > static_cast<std::int32_t>(Format::largest + (1u << Format::shift) - 1) ? infinite : result;
            sixteen::words const nan = ((size >> Format::shift) & ((1u << Format::fraction) - 1)) | Format::quiet;
            result = number > 0x7F800000 ? nan : result;
        } else {
            sixteen::words last = {};
            last += Format::last;
            result = number > static_cast<std::int32_t>(Format::largest) ? last : result;
            result = number >= 0x7F800000 ? last + 1u : result;
        }
        bits = result | signs;
    }
}

/// Exact; a signalling NaN is made quiet.
template <class Format>
[[gnu::always_inline]] inline void widen(sixteen::words& bits) {
    if constexpr (std::is_same_v<Format, bfloat16_format>) {
        bits <<= 16;
    } else {
        constexpr std::uint32_t sign_bit = sixteen::sign >> Format::sign_shift;
        sixteen::words const signs = (bits & sign_bit) << Format::sign_shift;
        sixteen::words const size = bits & (sign_bit - 1);
        auto const number = reinterpret_cast<sixteen::integers>(size);
        sixteen::floats const subnormal = __builtin_convertvector(number, sixteen::floats) * Format::step;
        sixteen::words result = (size << Format::shift) + Format::rebias;
        result = number < (1 << Format::fraction) ? reinterpret_cast<sixteen::words>(subnormal) : result;
        sixteen::words const special = (size << Format::shift) | 0x7F800000u;
        if constexpr (Format::has_infinity) {
            result = number >= static_cast<std::int32_t>(Format::special) ? special : result;
            result = number > static_cast<std::int32_t>(Format::special) ? special | 0x00400000u : result;
        } else {
            result = number == static_cast<std::int32_t>(Format::special) ? special | 0x00400000u : result;
        }
        bits = result | signs;
    }
}

template <class Format, bool Sanitises> struct narrow_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(std::byte* to, float const* from, std::size_t count) {
        using storage = typename Format::storage;
        by_sixteen(count, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
            sixteen::words bits;
            load_bits<Sanitises>(bits, from + i, many);
            if constexpr (Sanitises) {  // all of what is too large becomes the largest
                sixteen::words const most = (bits & sixteen::sign) | Format::largest;
                auto const number = reinterpret_cast<sixteen::integers>(bits & ~sixteen::sign);
                bits = number > static_cast<std::int32_t>(Format::largest) ? most : bits;
            }
            narrow<Format>(bits);
            typename vector_type<storage, 16 * sizeof(storage)>::type result;
            convert_lanes(result, bits);
            store_sixteen(to + i * sizeof(storage), result, many);
        });
    }
};

template <class Format, bool Adds> struct widen_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(float* out, std::byte const* from, std::size_t count) {
        using storage = typename Format::storage;
        by_sixteen(count, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
            typename vector_type<storage, 16 * sizeof(storage)>::type codes;
            load_sixteen(codes, from + i * sizeof(storage), many);
            sixteen::words bits;
            convert_lanes(bits, codes);
            widen<Format>(bits);
            auto value = reinterpret_cast<sixteen::floats>(bits);
            if constexpr (Adds) {
                sixteen::floats old;
                load_sixteen(old, out + i, many);
                value = old + value;
            }
            store_sixteen(out + i, value, many);
        });
    }
};

/// What a cast does, for classes that name it.
template <class Format, wire_format Wire> struct cast {
    static constexpr std::size_t max_wire_bytes(std::size_t count) noexcept {
        return wire_header::bytes + sizeof(typename Format::storage) * count;
    }

    /// An element of the normal range moves by half a step at most, relative 2^-(fraction + 1).
    static compression_promise promise() noexcept {
        return {.contraction = 1.0 - std::ldexp(1.0, -2 * (static_cast<int>(Format::fraction) + 1)),
                .smallest = std::bit_cast<float>(Format::least_normal),
                .largest = std::bit_cast<float>(Format::largest)};
    }

    static std::size_t encode(std::span<float const> dense, std::span<std::byte> wire, nonfinite policy,
                              std::string_view name) {
        std::size_t const bytes = max_wire_bytes(dense.size());
        expect_room(wire, bytes, name);
        refuse_nonfinite(dense, policy, name);
        wire_header{Wire, 0, 0, dense.size()}.write(wire);
        std::byte* const to = wire.data() + wire_header::bytes;
        if (policy == nonfinite::sanitise) run_kernel<narrow_kernel<Format, true>>(to, dense.data(), dense.size());
        else run_kernel<narrow_kernel<Format, false>>(to, dense.data(), dense.size());
        return bytes;
    }

    template <bool Adds>
    static void decode(std::span<std::byte const> received, std::span<float> out, std::string_view name) {
        wire_header::read(received, Wire, out.size(), name).expect_unused_zero(name);
        wire_header::expect_payload(received, max_wire_bytes(out.size()) - wire_header::bytes, name);
        run_kernel<widen_kernel<Format, Adds>>(out.data(), received.data() + wire_header::bytes, out.size());
    }
};

}  // namespace chorus::detail
