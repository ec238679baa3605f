// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/detail/kernel.hpp"
#include "chorus/detail/instruction_set.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace chorus::detail {

/// What magnitudes are compared by: the bits without the sign. In their order are 0, subnormal and normal numbers, infinity, and every NaN above it.
using magnitude = std::uint32_t;
inline constexpr magnitude largest_finite_magnitude = 0x7F7FFFFF;
inline constexpr magnitude infinite_magnitude = 0x7F800000;
inline constexpr magnitude largest_magnitude = 0x7FFFFFFF;

inline magnitude magnitude_of(float value) noexcept { return std::bit_cast<std::uint32_t>(value) & largest_magnitude; }

/// Magnitudes from `first` to `last`.
struct magnitude_range {
    magnitude first;
    magnitude last;
};

/// Appends the elements whose magnitude lies in a range, in order, with their indices, which begin at `index`. Beyond the last one appended, up to 16
/// more places of both arrays are overwritten.
struct collect_kernel {
    using function = void (*)(float const* values, std::size_t count, std::uint32_t index, magnitude_range range, std::uint32_t* indices,
                              float* picked, std::size_t* size);

    template <instruction_set Level>
    [[gnu::always_inline]] static void run(float const* values, std::size_t count, std::uint32_t index, magnitude_range range,
                                           std::uint32_t* indices, float* picked, std::size_t* size) {
        std::size_t many = *size;
        std::size_t at = 0;
        for (; count - at >= step<Level>; at += step<Level>)
            append<Level>(values + at, index + static_cast<std::uint32_t>(at), range, indices, picked, many);
        for (; at < count; ++at) {
            indices[many] = index + static_cast<std::uint32_t>(at);
            picked[many] = values[at];
            many += magnitude_of(values[at]) - range.first <= range.last - range.first;
        }
        *size = many;
    }

 private:
    template <instruction_set Level> static constexpr std::size_t step = Level == instruction_set::avx512 ? 16 : 32;

    template <instruction_set Level>
    [[gnu::always_inline]] static void append(float const* values, std::uint32_t index, magnitude_range range, std::uint32_t* indices,
                                              float* picked, std::size_t& many) {
        if constexpr (Level == instruction_set::avx512) compress(values, index, range, indices + many, picked + many, many);
        else
            for (std::uint32_t chosen = choose<Level>(values, range); chosen != 0; chosen &= chosen - 1) {
                auto const lane = static_cast<std::uint32_t>(__builtin_ctz(chosen));
                indices[many] = index + lane;
                picked[many] = values[lane];
                ++many;
            }
    }

    /// Bit i: element i lies in the range.
    template <instruction_set Level>
    [[gnu::always_inline]] static std::uint32_t choose(float const* values, magnitude_range range) {
        using line = lanes<Level, std::int32_t>;
        constexpr std::size_t many = vector_bytes(Level) / 4;
        auto const below = static_cast<std::int32_t>(range.first) - 1, last = static_cast<std::int32_t>(range.last);
        std::uint32_t chosen = 0;
        for (std::size_t at = 0; at < step<Level>; at += many) {
            typename line::vector size;
            line::load(&size, reinterpret_cast<std::byte const*>(values + at));
            size &= 0x7FFFFFFF;
            typename line::vector const inside = (size > below) & ~(size > last);
            chosen |= sign_bits(inside) << at;
        }
        return chosen;
    }

#if CHORUS_HAS_X86_TARGETS
    static inline std::uint32_t sign_bits(vector_type<std::int32_t, 16>::type const& set) {
        std::uint32_t bits;
        asm("movmskps {%1, %0|%0, %1}" : "=r"(bits) : "x"(set));
        return bits;
    }
    CHORUS_TARGET("avx2,f16c") static inline std::uint32_t sign_bits(vector_type<std::int32_t, 32>::type const& set) {
        std::uint32_t bits;
        asm("vmovmskps {%1, %0|%0, %1}" : "=r"(bits) : "x"(set));
        return bits;
    }
#else
    static inline std::uint32_t sign_bits(vector_type<std::int32_t, 16>::type const& set) {
        std::uint32_t bits = 0;
        for (unsigned i = 0; i < 4; ++i) bits |= static_cast<std::uint32_t>(set[i] & 1) << i;
        return bits;
    }
#endif

#if CHORUS_HAS_X86_TARGETS
    /// 16 elements without a branch.
    CHORUS_TARGET("avx512f,avx512bw,avx512dq,avx512vl")
    static inline void compress(float const* values, std::uint32_t index, magnitude_range range, std::uint32_t* indices, float* picked,
                                std::size_t& many) {
        using line = lanes<instruction_set::avx512, std::uint32_t>;
        using words = typename line::vector;
        words const lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
        words bits;
        line::load(&bits, reinterpret_cast<std::byte const*>(values));
        words const above_first = (bits & 0x7FFFFFFFu) - range.first;
        words const most = words{} + (range.last - range.first);
        words places = lane + index;
        std::uint16_t chosen;
        asm("vpcmpud {$2, %2, %1, %0|%0, %1, %2, 2}" : "=Yk"(chosen) : "v"(above_first), "v"(most));  // 2: not above
        asm("vpcompressd {%0, %0%{%1%}%{z%}|%0%{%1%}%{z%}, %0}" : "+v"(bits) : "Yk"(chosen));
        asm("vpcompressd {%0, %0%{%1%}%{z%}|%0%{%1%}%{z%}, %0}" : "+v"(places) : "Yk"(chosen));
        line::store(reinterpret_cast<std::byte*>(indices), &places);
        line::store(reinterpret_cast<std::byte*>(picked), &bits);
        many += static_cast<std::size_t>(__builtin_popcount(chosen));
    }
#else
    static void compress(float const*, std::uint32_t, magnitude_range, std::uint32_t*, float*, std::size_t&) {}
#endif
};

}  // namespace chorus::detail
