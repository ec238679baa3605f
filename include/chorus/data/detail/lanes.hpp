// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/config.hpp"
#include "chorus/data/bfloat16.hpp"
#include "chorus/data/half.hpp"
#include "chorus/detail/instruction_set.hpp"

#include <cstddef>
#include <cstdint>

namespace chorus::detail {

// Vectors are the compilers' own vector types. They are handed on by reference only and every function here is
// inlined, so that one source becomes the code of whichever instruction set the outermost function names.

template <class Word, std::size_t Bytes> struct vector_type {
    using type [[gnu::vector_size(Bytes)]] = Word;
    struct [[gnu::packed, gnu::may_alias]] unaligned {
        type value;
    };
};

template <class Vector, class Word> using vector_like = typename vector_type<Word, sizeof(Vector)>::type;

/// f(0) … f(Times - 1) for 1, 2 or 4 times; the arguments are constants once inlined.
template <std::size_t Times, class Function>
[[gnu::always_inline]] inline void unrolled(Function const& f) {
    static_assert(Times == 1 || Times == 2 || Times == 4);
    f(0);
    if constexpr (Times > 1) f(1);
    if constexpr (Times > 2) {
        f(2);
        f(3);
    }
}

/// How elements in memory, at any address, become vectors of the type computed with, and back. `vectors` of them are
/// filled by one load of one vector's bytes; `keeps_order` says whether consecutive elements are consecutive words.
template <instruction_set Level, class Element> struct lanes {
    using word = Element;
    using memory = vector_type<Element, vector_bytes(Level)>;
    using vector = typename memory::type;
    static constexpr std::size_t vectors = 1;
    static constexpr bool keeps_order = true;

    [[gnu::always_inline]] static void load(vector* to, std::byte const* from) {
        *to = reinterpret_cast<typename memory::unaligned const*>(from)->value;
    }
    [[gnu::always_inline]] static void store(std::byte* to, vector const* from) {
        reinterpret_cast<typename memory::unaligned*>(to)->value = *from;
    }
};

/// Elements of 16 bits as two vectors of float: the even and the odd ones.
template <instruction_set Level, class Element> struct even_odd_lanes {
    using word = float;
    using vector = typename vector_type<float, vector_bytes(Level)>::type;
    using bits = typename vector_type<std::uint32_t, vector_bytes(Level)>::type;
    using signed_bits = typename vector_type<std::int32_t, vector_bytes(Level)>::type;
    static constexpr std::size_t vectors = 2;
    static constexpr bool keeps_order = false;

 protected:
    using pairs = lanes<Level, std::uint32_t>;
};

template <instruction_set Level> struct lanes<Level, bfloat16> : even_odd_lanes<Level, bfloat16> {
    using base = even_odd_lanes<Level, bfloat16>;
    using typename base::bits;
    using typename base::pairs;
    using typename base::signed_bits;
    using typename base::vector;

    [[gnu::always_inline]] static void load(vector* to, std::byte const* from) {
        bits both;
        pairs::load(&both, from);
        to[0] = reinterpret_cast<vector>(both << 16);
        to[1] = reinterpret_cast<vector>(both & 0xFFFF0000u);
    }
    [[gnu::always_inline]] static void store(std::byte* to, vector const* from) {
        bits even = reinterpret_cast<bits>(from[0]);
        bits odd = reinterpret_cast<bits>(from[1]);
        round(even);
        round(odd);
        bits const both = (even >> 16) | (odd & 0xFFFF0000u);
        pairs::store(to, &both);
    }

 private:
    /// Leaves the result in the upper 16 bits.
    [[gnu::always_inline]] static void round(bits& value) {
        bits const quiet = value | 0x00400000u;
        bits const rounded = value + 0x7FFFu + ((value >> 16) & 1u);
        // Signed words are the ones that every instruction set can compare.
        signed_bits const size = reinterpret_cast<signed_bits>(value & 0x7FFFFFFFu);
        value = size > 0x7F800000 ? quiet : rounded;
    }
};

template <instruction_set Level> struct lanes<Level, half> : even_odd_lanes<Level, half> {
    using base = even_odd_lanes<Level, half>;
    using typename base::bits;
    using typename base::pairs;
    using typename base::signed_bits;
    using typename base::vector;

    [[gnu::always_inline]] static void load(vector* to, std::byte const* from) {
        bits both;
        pairs::load(&both, from);
        bits even = both & 0xFFFFu;
        bits odd = both >> 16;
        widen(even);
        widen(odd);
        to[0] = reinterpret_cast<vector>(even);
        to[1] = reinterpret_cast<vector>(odd);
    }
    [[gnu::always_inline]] static void store(std::byte* to, vector const* from) {
        bits even = reinterpret_cast<bits>(from[0]);
        bits odd = reinterpret_cast<bits>(from[1]);
        narrow(even);
        narrow(odd);
        bits const both = even | (odd << 16);
        pairs::store(to, &both);
    }

 private:
    // The same steps as half.hpp, with every branch computed and one selected.
    [[gnu::always_inline]] static void widen(bits& value) {
        bits const sign = (value & 0x8000u) << 16;
        bits const size = value & 0x7FFFu;
        signed_bits const number = reinterpret_cast<signed_bits>(size);
        bits const subnormal = reinterpret_cast<bits>(__builtin_convertvector(number, vector) * 0x1p-24f);
        bits const normal = (size << 13) + 0x38000000u;
        bits const special = (size << 13) + 0x70000000u;
        bits result = number < 0x0400 ? subnormal : normal;
        result = number > 0x7BFF ? special : result;
        result = number > 0x7C00 ? special | 0x00400000u : result;
        value = sign | result;
    }
    [[gnu::always_inline]] static void narrow(bits& value) {
        bits const sign = (value >> 16) & 0x8000u;
        bits const size = value & 0x7FFFFFFFu;
        signed_bits const number = reinterpret_cast<signed_bits>(size);
        bits const normal = (size - 0x38000000u + 0xFFFu + ((size >> 13) & 1u)) >> 13;
        bits const subnormal = reinterpret_cast<bits>(reinterpret_cast<vector>(size) + 0.5f) - 0x3F000000u;
        bits const infinite = bits{} + 0x7C00u;
        bits const nan = ((size >> 13) & 0x3FFu) | 0x7E00u;
        bits result = number < 0x38800000 ? subnormal : normal;
        result = number > 0x477FFFFF ? infinite : result;
        result = number > 0x7F800000 ? nan : result;
        value = sign | result;
    }
};

#if CHORUS_HAS_X86_TARGETS

/// half by the converters of the processor, which give the same bits; the rounding is named in the instruction. The
/// operands of each asm are registers: g++ 12 takes a function whose only writes are memory operands of an asm for
/// one without effects.
template <> struct lanes<instruction_set::avx2, half> {
    using word = float;
    using vector = vector_type<float, 32>::type;
    using halves = vector_type<std::uint16_t, 16>;
    static constexpr std::size_t vectors = 2;
    static constexpr bool keeps_order = true;

    CHORUS_TARGET("avx2,f16c") static inline void load(vector* to, std::byte const* from) {
        halves::type const low = reinterpret_cast<halves::unaligned const*>(from)->value;
        halves::type const high = reinterpret_cast<halves::unaligned const*>(from + 16)->value;
        vector first, second;
        asm("vcvtph2ps {%1, %0|%0, %1}" : "=x"(first) : "x"(low));
        asm("vcvtph2ps {%1, %0|%0, %1}" : "=x"(second) : "x"(high));
        to[0] = first;
        to[1] = second;
    }
    CHORUS_TARGET("avx2,f16c") static inline void store(std::byte* to, vector const* from) {
        halves::type low, high;
        asm("vcvtps2ph {$0, %1, %0|%0, %1, 0}" : "=x"(low) : "x"(from[0]));
        asm("vcvtps2ph {$0, %1, %0|%0, %1, 0}" : "=x"(high) : "x"(from[1]));
        reinterpret_cast<halves::unaligned*>(to)->value = low;
        reinterpret_cast<halves::unaligned*>(to + 16)->value = high;
    }
};

template <> struct lanes<instruction_set::avx512, half> {
    using word = float;
    using vector = vector_type<float, 64>::type;
    using halves = vector_type<std::uint16_t, 32>;
    static constexpr std::size_t vectors = 2;
    static constexpr bool keeps_order = true;

    CHORUS_TARGET("avx512f,avx512bw,avx512dq,avx512vl") static inline void load(vector* to, std::byte const* from) {
        halves::type const low = reinterpret_cast<halves::unaligned const*>(from)->value;
        halves::type const high = reinterpret_cast<halves::unaligned const*>(from + 32)->value;
        vector first, second;
        asm("vcvtph2ps {%1, %0|%0, %1}" : "=v"(first) : "v"(low));
        asm("vcvtph2ps {%1, %0|%0, %1}" : "=v"(second) : "v"(high));
        to[0] = first;
        to[1] = second;
    }
    CHORUS_TARGET("avx512f,avx512bw,avx512dq,avx512vl") static inline void store(std::byte* to, vector const* from) {
        halves::type low, high;
        asm("vcvtps2ph {$0, %1, %0|%0, %1, 0}" : "=v"(low) : "v"(from[0]));
        asm("vcvtps2ph {$0, %1, %0|%0, %1, 0}" : "=v"(high) : "v"(from[1]));
        reinterpret_cast<halves::unaligned*>(to)->value = low;
        reinterpret_cast<halves::unaligned*>(to + 32)->value = high;
    }
};

#endif

}  // namespace chorus::detail
