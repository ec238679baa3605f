// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/detail/kernel.hpp"
#include "chorus/detail/instruction_set.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace chorus::detail {

// Kernels of compressors work on sixteen elements at once, in every instruction set: what is 64 bytes wide the compiler
// cuts to the vectors that there are. So the order of every sum, and with it every bit, is the same everywhere. Products
// that are added to something are exact or pass an AND in between, so that fused and separate roundings are the same.
// Vectors are handed on by reference only, as in data/detail/lanes.hpp.

struct sixteen {
    static constexpr std::size_t lanes = 16;
    using floats = vector_type<float, 64>::type;
    using words = vector_type<std::uint32_t, 64>::type;
    using integers = vector_type<std::int32_t, 64>::type;
    using shorts = vector_type<std::uint16_t, 32>::type;
    using bytes = vector_type<std::uint8_t, 16>::type;
    using eight_floats = vector_type<float, 32>::type;
    using eight_doubles = vector_type<double, 64>::type;

    static constexpr words index = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    static constexpr words bit = {1u << 0, 1u << 1, 1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
                                  1u << 8, 1u << 9, 1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15};
    static constexpr std::uint32_t sign = 0x80000000u;
    static constexpr std::uint32_t infinity = 0x7F800000u;
};

/// body(i, many) for i = 0, 16, … with many = 16, and once with what is left.
template <class Body>
[[gnu::always_inline]] inline void by_sixteen(std::size_t count, Body const& body) {
    std::size_t i = 0;
    for (; count - i >= 16; i += 16) body(i, std::size_t{16});
    if (i < count) body(i, count - i);
}

/// The first `many` lanes from memory at any address; the others 0.
template <class Vector>
[[gnu::always_inline]] inline void load_sixteen(Vector& to, void const* from, std::size_t many) {
    if (many == 16) {
        std::memcpy(&to, from, sizeof to);
    } else {
        to = Vector{};
        std::memcpy(&to, from, many * (sizeof to / 16));
    }
}
template <class Vector>
[[gnu::always_inline]] inline void store_sixteen(void* to, Vector const& from, std::size_t many) {
    if (many == 16) std::memcpy(to, &from, sizeof from);
    else std::memcpy(to, &from, many * (sizeof from / 16));
}

/// Bytes to words and back by way of shorts: g++ 12 converts lane by lane where sizes differ by more than a factor of two.
template <class To, class From>
[[gnu::always_inline]] inline void convert_lanes(To& to, From const& from) {
    if constexpr (sizeof to == 4 * sizeof from || sizeof from == 4 * sizeof to)
        to = __builtin_convertvector(__builtin_convertvector(from, sixteen::shorts), To);
    else to = __builtin_convertvector(from, To);
}

/// Words where all lanes of `use` are -1 from a, where 0 from b.
[[gnu::always_inline]] inline void select_words(sixteen::words& to, sixteen::integers const& use, sixteen::words const& a,
                                                sixteen::words const& b) {
    auto const m = reinterpret_cast<sixteen::words>(use);
    to = (a & m) | (b & ~m);
}

/// NaN becomes 0, infinities the largest finite value of their sign.
[[gnu::always_inline]] inline void sanitise_sixteen(sixteen::words& bits) {
    sixteen::words const size = bits & ~sixteen::sign;
    auto const number = reinterpret_cast<sixteen::integers>(size);
    sixteen::words const largest = (bits & sixteen::sign) | 0x7F7FFFFFu;
    bits = number == 0x7F800000 ? largest : bits;
    bits = number > 0x7F800000 ? sixteen::words{} : bits;
}

/// Loads floats as bits, and asks for those 4 KiB ahead: a processor does not run far enough ahead by itself where there is
/// much to do for each. Encoders of vectors that lie in no cache took 0.4 to 0.9 of the time with it.
[[gnu::always_inline]] inline void load_ahead(sixteen::words& bits, float const* from, std::size_t many) {
    __builtin_prefetch(reinterpret_cast<std::byte const*>(from) + 4096);
    load_sixteen(bits, from, many);
}

/// The same, sanitised where that is asked for.
template <bool Sanitises>
[[gnu::always_inline]] inline void load_bits(sixteen::words& bits, float const* from, std::size_t many) {
    load_ahead(bits, from, many);
    if constexpr (Sanitises) sanitise_sixteen(bits);
}

/// Bit k is set where lane k, 0 or -1, is -1.
[[gnu::always_inline]] inline std::uint32_t mask_of(sixteen::integers const& lanes) {
    sixteen::bytes narrow;
    convert_lanes(narrow, lanes);
    std::uint64_t half[2];
    std::memcpy(half, &narrow, sizeof half);
    constexpr std::uint64_t bits = 0x8040201008040201u, sum = 0x0101010101010101u;
    std::uint64_t const low = ((half[0] & bits) * sum) >> 56;
    std::uint64_t const high = ((half[1] & bits) * sum) >> 56;
    return static_cast<std::uint32_t>(low | high << 8);
}

/// Sixteen sums of doubles, added up in one fixed order.
struct double_sums {
    sixteen::eight_doubles low = {};
    sixteen::eight_doubles high = {};

    [[gnu::always_inline]] void add(sixteen::floats const& values) {
        sixteen::eight_doubles part[2];
        widen(part, values);
        low += part[0];
        high += part[1];
    }
    /// The squares of floats are exact in double.
    [[gnu::always_inline]] void add_squares(sixteen::floats const& values) {
        sixteen::eight_doubles part[2];
        widen(part, values);
        low += part[0] * part[0];
        high += part[1] * part[1];
    }
    [[gnu::always_inline]] double total() const {
        sixteen::eight_doubles const both = low + high;
        double total = 0;
        for (int i = 0; i < 8; ++i) total += both[i];
        return total;
    }

 private:
    [[gnu::always_inline]] static void widen(sixteen::eight_doubles* to, sixteen::floats const& values) {
        sixteen::eight_floats half[2];
        std::memcpy(half, &values, sizeof half);
        to[0] = __builtin_convertvector(half[0], sixteen::eight_doubles);
        to[1] = __builtin_convertvector(half[1], sixteen::eight_doubles);
    }
};

/// Random words for the lanes of a block, a pure function of its two keys and the place.
struct random_words {
    std::uint32_t first;
    std::uint32_t second;

    CHORUS_HOST_DEVICE explicit random_words(std::uint64_t key) noexcept
        : first{static_cast<std::uint32_t>(key)}, second{static_cast<std::uint32_t>(key >> 32)} {}

    /// 32 bits for each of the elements at, at + 1, …; the upper ones are the better ones.
    [[gnu::always_inline]] void draw(sixteen::words& to, std::size_t at) const {
        to = (sixteen::index + static_cast<std::uint32_t>(at)) * 0x9E3779B9u + first;
        to = (to ^ (to >> 16)) * 0x7FEB352Du + second;
        to = (to ^ (to >> 15)) * 0x846CA68Bu;
    }

    /// The same for one element.
    CHORUS_HOST_DEVICE std::uint32_t word(std::uint32_t at) const noexcept {
        std::uint32_t bits = at * 0x9E3779B9u + first;
        bits = (bits ^ (bits >> 16)) * 0x7FEB352Du + second;
        return (bits ^ (bits >> 15)) * 0x846CA68Bu;
    }
};

/// Runs the kernel in the instruction set in force.
template <class Kernel, class... Arguments>
inline void run_kernel(Arguments... arguments) {
    versions<Kernel, void (*)(Arguments...)>::choose(current_instruction_set())(arguments...);
}

}  // namespace chorus::detail
