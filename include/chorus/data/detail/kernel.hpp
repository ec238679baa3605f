// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/detail/combine.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace chorus::detail {

/// Reads and writes elements at any address; the type need not be default constructible.
template <class T> inline T load_element(std::byte const* from) noexcept {
    std::array<std::byte, sizeof(T)> bytes;
    std::memcpy(bytes.data(), from, sizeof(T));
    return std::bit_cast<T>(bytes);
}
template <class T> inline void store_element(std::byte* to, T const& value) noexcept {
    std::memcpy(to, std::addressof(value), sizeof(T));
}

/// What the vector kernels compute with: integers by size (and by sign where it matters, in a minimum or maximum),
/// bool as a byte, and the four floating types; void: no vectors.
template <class Op, class T> consteval auto lane_element_of() {
    if constexpr (std::same_as<T, bool>) return std::type_identity<std::uint8_t>{};
    else if constexpr (integer<T>) {
        using plain = unsigned_of<sizeof(T)>;
        constexpr bool is_signed = std::is_signed_v<T> && is_extremum<Op>;
        return std::type_identity<std::conditional_t<is_signed, std::make_signed_t<plain>, plain>>{};
    } else if constexpr (std::same_as<T, float> || std::same_as<T, double> || is_narrow_float<T>)
        return std::type_identity<T>{};
    else return std::type_identity<void>{};
}
template <class Op, class T> using lane_element_t = typename decltype(lane_element_of<Op, T>())::type;

/// `mean` adds; the bit operations of bool are the logical ones, so that only 0 and 1 are ever stored.
template <class Op, class T> consteval auto lane_operation_of() {
    if constexpr (std::same_as<Op, mean>) return sum{};
    else if constexpr (std::same_as<T, bool> && std::same_as<Op, bit_and>) return logical_and{};
    else if constexpr (std::same_as<T, bool> && std::same_as<Op, bit_or>) return logical_or{};
    else if constexpr (std::same_as<T, bool> && std::same_as<Op, bit_xor>) return logical_xor{};
    else return Op{};
}
template <class Op, class T> using lane_operation_t = decltype(lane_operation_of<Op, T>());

inline constexpr std::size_t unrolled_vectors = 4;

/// Where there is much arithmetic per byte, or more than two streams, the processor does not run far enough ahead in
/// memory by itself. Asking 2 KiB ahead took bfloat16 sums of 16 MiB from 1.4 to 6.0 GB/s with SSE2 and from 7 to 11
/// GB/s with AVX2, and folds of 8 times 8 MiB of float from 21 to 31 GB/s read; plain sums in the first-level cache
/// would lose a tenth by it.
template <class Op, class Lanes> inline constexpr bool asks_ahead = Lanes::vectors > 1 || is_extremum<Op>;

template <std::size_t Bytes> [[gnu::always_inline]] inline void ask_ahead([[maybe_unused]] std::byte const* from) {
    if constexpr (Bytes > 0)
        for (std::size_t line = 0; line < Bytes; line += 64) __builtin_prefetch(from + 2048 + line);
}

template <instruction_set Level, class Lanes, std::size_t Vectors>
[[gnu::always_inline]] inline void load_vectors(typename Lanes::vector* to, std::byte const* from) {
    unrolled<Vectors / Lanes::vectors>([&](std::size_t i) __attribute__((always_inline)) {
        Lanes::load(to + i * Lanes::vectors, from + i * vector_bytes(Level));
    });
}
template <instruction_set Level, class Lanes, std::size_t Vectors>
[[gnu::always_inline]] inline void store_vectors(std::byte* to, typename Lanes::vector const* from) {
    unrolled<Vectors / Lanes::vectors>([&](std::size_t i) __attribute__((always_inline)) {
        Lanes::store(to + i * vector_bytes(Level), from + i * Lanes::vectors);
    });
}

/// out = left op right. Elements are read before their place is written, so out may be left or right.
template <class Op, class Element> struct apply_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(std::byte* out, std::byte const* left, std::byte const* right,
                                           std::size_t count, void const*) {
        using line = lanes<Level, Element>;
        constexpr std::size_t narrow = vector_bytes(Level);
        constexpr std::size_t broad = narrow * unrolled_vectors / line::vectors;
        std::size_t const bytes = count * sizeof(Element);
        std::size_t at = 0;
        for (; bytes - at >= broad; at += broad) {
            if constexpr (asks_ahead<Op, line>) {
                ask_ahead<broad>(left + at);
                ask_ahead<broad>(right + at);
            }
            step<Level, unrolled_vectors>(out + at, left + at, right + at);
        }
        for (; bytes - at >= narrow; at += narrow) step<Level, line::vectors>(out + at, left + at, right + at);
        for (; at < bytes; at += sizeof(Element)) {
            Element const value = Op{}(load_element<Element>(left + at), load_element<Element>(right + at));
            store_element(out + at, value);
        }
    }

 private:
    template <instruction_set Level, std::size_t Vectors>
    [[gnu::always_inline]] static void step(std::byte* out, std::byte const* left, std::byte const* right) {
        using line = lanes<Level, Element>;
        typename line::vector a[Vectors], b[Vectors];
        load_vectors<Level, line, Vectors>(a, left);
        load_vectors<Level, line, Vectors>(b, right);
        unrolled<Vectors>([&](std::size_t i) __attribute__((always_inline)) {
            combine<Op, typename line::word>(a[i], b[i]);
        });
        store_vectors<Level, line, Vectors>(out, a);
    }
};

/// out = inputs[0] op inputs[1] op …, kept wide until the one rounding at the end. One input is copied.
template <class Op, class Element> struct fold_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(std::byte* out, std::byte const* const* inputs, std::size_t many,
                                           std::size_t count, void const*) {
        using line = lanes<Level, Element>;
        constexpr std::size_t narrow = vector_bytes(Level);
        constexpr std::size_t broad = narrow * unrolled_vectors / line::vectors;
        std::size_t const bytes = count * sizeof(Element);
        std::size_t at = 0;
        if (many < 2) {
            if (many == 1 && bytes != 0) std::memmove(out, inputs[0], bytes);
            return;
        }
        for (; bytes - at >= broad; at += broad) step<Level, unrolled_vectors>(out, inputs, many, at);
        for (; bytes - at >= narrow; at += narrow) step<Level, line::vectors>(out, inputs, many, at);
        for (; at < bytes; at += sizeof(Element)) {
            auto value = static_cast<wide_t<Element>>(load_element<Element>(inputs[0] + at));
            for (std::size_t i = 1; i < many; ++i)
                value = Op{}(value, static_cast<wide_t<Element>>(load_element<Element>(inputs[i] + at)));
            store_element(out + at, static_cast<Element>(value));
        }
    }

 private:
    template <instruction_set Level, std::size_t Vectors>
    [[gnu::always_inline]] static void step(std::byte* out, std::byte const* const* inputs, std::size_t many,
                                            std::size_t at) {
        using line = lanes<Level, Element>;
        typename line::vector value[Vectors], next[Vectors];
        constexpr std::size_t ahead = Vectors == unrolled_vectors ? Vectors / line::vectors * vector_bytes(Level) : 0;
        ask_ahead<ahead>(inputs[0] + at);
        load_vectors<Level, line, Vectors>(value, inputs[0] + at);
        for (std::size_t input = 1; input < many; ++input) {
            ask_ahead<ahead>(inputs[input] + at);
            load_vectors<Level, line, Vectors>(next, inputs[input] + at);
            unrolled<Vectors>([&](std::size_t i) __attribute__((always_inline)) {
                combine<Op, typename line::word>(value[i], next[i]);
            });
        }
        store_vectors<Level, line, Vectors>(out + at, value);
    }
};

/// The same two loops for any operation and element, one element at a time. `op` is the operation; null: a built-in
/// one.
template <class Op, class T> struct scalar_kernel {
    static void apply(std::byte* out, std::byte const* left, std::byte const* right, std::size_t count,
                      void const* op) {
        for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T))
            store_element(out + at, call(op, load_element<T>(left + at), load_element<T>(right + at)));
    }
    static void fold(std::byte* out, std::byte const* const* inputs, std::size_t many, std::size_t count,
                     void const* op) {
        if (many == 1 && count != 0) std::memmove(out, inputs[0], count * sizeof(T));
        if (many < 2) return;
        for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
            std::array<std::byte, sizeof(T)> value;
            std::memcpy(value.data(), inputs[0] + at, sizeof(T));
            for (std::size_t i = 1; i < many; ++i) {
                T const next = call(op, load_element<T>(value.data()), load_element<T>(inputs[i] + at));
                store_element(value.data(), next);
            }
            std::memcpy(out + at, value.data(), sizeof(T));
        }
    }

 private:
    static T call(void const* op, T const& a, T const& b) {
        if constexpr (is_built_in<Op>) return Op{}(a, b);
        else return static_cast<T>((*static_cast<Op const*>(op))(a, b));
    }
};

/// One function of a kernel for each instruction set.
template <class Kernel, class Function> struct versions;
template <class Kernel, class... Arguments> struct versions<Kernel, void (*)(Arguments...)> {
    static constexpr auto choose(instruction_set level) noexcept -> void (*)(Arguments...) {
#if CHORUS_HAS_X86_TARGETS
        if (level == instruction_set::avx512) return &avx512;
        if (level == instruction_set::avx2) return &avx2;
#else
        static_cast<void>(level);
#endif
        return &baseline;
    }

 private:
    static void baseline(Arguments... arguments) {
        Kernel::template run<instruction_set::baseline>(arguments...);
    }
#if CHORUS_HAS_X86_TARGETS
    CHORUS_TARGET("avx2,f16c") static void avx2(Arguments... arguments) {
        Kernel::template run<instruction_set::avx2>(arguments...);
    }
    CHORUS_TARGET("avx512f,avx512bw,avx512dq,avx512vl") static void avx512(Arguments... arguments) {
        Kernel::template run<instruction_set::avx512>(arguments...);
    }
#endif
};

}  // namespace chorus::detail
