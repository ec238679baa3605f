// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/detail/kernel.hpp"
#include "chorus/data/detail/mean_rules.hpp"

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
                store_element(out + i * sizeof(carried), mean_widened(load_element<T>(in + i * sizeof(T))));
        } else if constexpr (std::same_as<T, half>) {
            convert<Level, T, carried>(out, in, count, unchanged{});
        } else {
            if (ranks < 2) return copy_unless_in_place(out, in, count * sizeof(T));
            convert<Level, T, T>(out, in, count, times<word>{mean_factor<word>(ranks)});
        }
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
                store_element(out + i * sizeof(T), mean_quotient<T>(load_element<carried>(in + i * sizeof(carried)), ranks));
        } else if constexpr (std::same_as<T, half>) {
            convert<Level, carried, T>(out, in, count, divided_by<word>{static_cast<word>(ranks)});
        } else {
            if (std::has_single_bit(ranks)) return copy_unless_in_place(out, in, count * sizeof(T));
            convert<Level, T, T>(out, in, count, divided_by<word>{mean_divisor<word>(ranks)});
        }
    }
};

}  // namespace chorus::detail
