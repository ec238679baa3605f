// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/detail/kernel.hpp"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace chorus::detail {

// The two ends of `mean`: elements to carriers before the sum, carriers to elements after it, for 1 <= ranks < 2^32.
// Where both have one size, out may be in.

template <class Word> struct times {
    Word factor;
    template <class Value> [[gnu::always_inline]] void operator()(Value& value) const { value = value * factor; }
};
template <class Word> struct divided_by {
    Word divisor;
    template <class Value> [[gnu::always_inline]] void operator()(Value& value) const { value = value / divisor; }
};
struct unchanged {
    template <class Value> [[gnu::always_inline]] void operator()(Value&) const {}
};

inline void copy_unless_in_place(std::byte* out, std::byte const* in, std::size_t bytes) {
    if (out != in && bytes != 0) std::memcpy(out, in, bytes);
}

/// The exponent of the power of two by which values are scaled down: ceil(log2 ranks).
constexpr int mean_shift(std::uint64_t ranks) noexcept {
    return ranks < 2 ? 0 : static_cast<int>(std::bit_width(ranks - 1));
}

/// out = change(in) for every element, computed in From's word.
template <instruction_set Level, class From, class To, class Change>
[[gnu::always_inline]] inline void convert(std::byte* out, std::byte const* in, std::size_t count, Change change) {
    std::size_t i = 0;
    if constexpr (!std::is_void_v<lane_element_t<sum, From>>) {
        using source = lanes<Level, From>;
        using target = lanes<Level, To>;
        constexpr std::size_t step = unrolled_vectors * vector_bytes(Level) / sizeof(wide_t<From>);
        if constexpr (std::same_as<From, To> || (source::keeps_order && target::keeps_order)) {
            for (; count - i >= step; i += step) {
                typename source::vector values[unrolled_vectors];
                load_vectors<Level, source, unrolled_vectors>(values, in + i * sizeof(From));
                unrolled<unrolled_vectors>([&](std::size_t v) __attribute__((always_inline)) { change(values[v]); });
                store_vectors<Level, target, unrolled_vectors>(out + i * sizeof(To), values);
            }
        }
    }
    for (; i < count; ++i) {
        auto value = static_cast<wide_t<From>>(load_element<From>(in + i * sizeof(From)));
        change(value);
        store_element(out + i * sizeof(To), static_cast<To>(value));
    }
}

template <class T> struct mean_prepare {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(std::byte* out, std::byte const* in, std::size_t count,
                                           std::uint64_t ranks) {
        using carried = carrier_t<mean, T>;
        using word = wide_t<T>;
        if constexpr (integer<T>) {
            for (std::size_t i = 0; i < count; ++i)
                store_element(out + i * sizeof(carried), widened(load_element<T>(in + i * sizeof(T))));
        } else if constexpr (std::same_as<T, half>) {
            convert<Level, T, carried>(out, in, count, unchanged{});
        } else {
            if (ranks < 2) return copy_unless_in_place(out, in, count * sizeof(T));
            word const factor = word{1} / static_cast<word>(std::uint64_t{1} << mean_shift(ranks));
            convert<Level, T, T>(out, in, count, times<word>{factor});
        }
    }

 private:
    static constexpr carrier_t<mean, T> widened(T value) noexcept {
        if constexpr (sizeof(T) == 8) return wide_integer::of(value);
        else return static_cast<carrier_t<mean, T>>(value);
    }
};

template <class T> struct mean_finish {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(std::byte* out, std::byte const* in, std::size_t count,
                                           std::uint64_t ranks) {
        using carried = carrier_t<mean, T>;
        using word = wide_t<T>;
        if constexpr (integer<T>) {
            for (std::size_t i = 0; i < count; ++i)
                store_element(out + i * sizeof(T), quotient(load_element<carried>(in + i * sizeof(carried)), ranks));
        } else if constexpr (std::same_as<T, half>) {
            convert<Level, carried, T>(out, in, count, divided_by<word>{static_cast<word>(ranks)});
        } else {
            if (std::has_single_bit(ranks)) return copy_unless_in_place(out, in, count * sizeof(T));
            // ranks / 2^shift is exact below 2^24 ranks, so that this one division rounds sum / ranks correctly.
            word const divisor =
                static_cast<word>(ranks) / static_cast<word>(std::uint64_t{1} << mean_shift(ranks));
            convert<Level, T, T>(out, in, count, divided_by<word>{divisor});
        }
    }

 private:
    static constexpr T quotient(carrier_t<mean, T> total, std::uint64_t ranks) noexcept {
        if constexpr (sizeof(T) < 8) {
            return static_cast<T>(total / static_cast<carrier_t<mean, T>>(ranks));
        } else if constexpr (std::is_signed_v<T>) {
            if (total.is_negative()) return static_cast<T>(0 - total.negated().quotient(ranks));
            return static_cast<T>(total.quotient(ranks));
        } else {
            return static_cast<T>(total.quotient(ranks));
        }
    }
};

}  // namespace chorus::detail
