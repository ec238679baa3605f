// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/saved_calls.hpp"
#include "chorus/compress/detail/sign_bits.hpp"
#include "chorus/compress/detail/sixteen.hpp"
#include "chorus/compress/detail/wire_header.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace chorus {

namespace detail {

/// Exponents, a byte each, and signs, a bit each. An element between two powers of two becomes the upper one with the
/// probability that makes the mean the element, which is its fraction bits / 2^23; from 2^127 on it becomes 2^127.
template <bool Sanitises> struct natural_encode_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(float const* from, std::size_t count, std::byte* exponents, std::byte* signs,
                                           counter_random const* keys) {
        for (std::size_t begin = 0; begin < count; begin += block) {
            random_words const random{keys->bits(begin / block)};
            by_sixteen((std::min)(block, count - begin), [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
                sixteen::words bits, chance;
                load_bits<Sanitises>(bits, from + begin + i, many);
                random.draw(chance, i);
                sixteen::words const size = bits & ~sixteen::sign;
                sixteen::words const rounded = (size + (chance >> 9)) >> 23;
                auto const number = reinterpret_cast<sixteen::integers>(rounded);
                sixteen::words result = number > 254 ? sixteen::words{} + 254u : rounded;
                auto const is_finite = reinterpret_cast<sixteen::integers>(size) < 0x7F800000;
                select_words(result, is_finite, result, sixteen::words{} + 255u);
                sixteen::bytes narrow;
                convert_lanes(narrow, result);
                store_sixteen(exponents + begin + i, narrow, many);
                put_mask(signs, begin + i, mask_of(reinterpret_cast<sixteen::integers>(bits) >> 31), many);
            });
        }
    }
    static constexpr std::size_t block = 4096;
};

template <bool Adds> struct natural_decode_kernel {
    template <instruction_set Level>
    [[gnu::always_inline]] static void run(float* out, std::size_t count, std::byte const* exponents,
                                           std::byte const* signs) {
        by_sixteen(count, [&](std::size_t i, std::size_t many) __attribute__((always_inline)) {
            sixteen::bytes codes;
            load_sixteen(codes, exponents + i, many);
            sixteen::words exponent;
            convert_lanes(exponent, codes);
            sixteen::words const is_special = reinterpret_cast<sixteen::words>(exponent == 255u) & 0x00400000u;
            sixteen::words sign;
            signs_of(sign, get_mask(signs, i, many));
            auto value = reinterpret_cast<sixteen::floats>((exponent << 23) | is_special | sign);
            if constexpr (Adds) {
                sixteen::floats old;
                load_sixteen(old, out + i, many);
                value = old + value;
            }
            store_sixteen(out + i, value, many);
        });
    }
};

}  // namespace detail

/// Every element rounded at random to one of the two powers of two around it, so that the mean is the element.
///
/// layout    header, then count bytes, the exponents with a bias of 127 (0: zero, 255: NaN), then a bit of sign for each
///           element, the first in the lowest bit; the last byte is filled up with 0
/// bytes     16 + count + ⌈count / 8⌉
/// promise   unbiased, δ = 7/8 for normal magnitudes up to 2^127; smaller ones become 0 or 2^-126, unbiased too
/// NaN, Inf  propagate: both become NaN; no other element suffers
/// state     the number of calls (16 bytes)
/// source    Horváth et al., "Natural compression for distributed deep learning", 2019
struct natural {
    static constexpr std::string_view name = "natural";

    std::uint64_t seed = 0;
    nonfinite on_nonfinite = nonfinite::propagate;
    std::uint64_t calls = 0;  ///< so many messages were encoded

    constexpr std::size_t max_wire_bytes(std::size_t count) const noexcept {
        return detail::wire_header::bytes + count + detail::sign_bytes(count);
    }
    compression_promise promise(std::size_t) const noexcept {
        return {.is_unbiased = true, .contraction = 0.875, .smallest = 0x1p-126f, .largest = 0x1p127f};
    }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        std::size_t const count = dense.size();
        detail::expect_room(wire, max_wire_bytes(count), name);
        detail::refuse_nonfinite(dense, on_nonfinite, name);
        detail::wire_header{format, 0, 0, count}.write(wire);
        std::byte* const to = wire.data() + detail::wire_header::bytes;
        counter_random const keys{seed, calls++};
        auto const* const fixed = static_cast<counter_random const*>(&keys);
        if (on_nonfinite == nonfinite::sanitise)
            detail::run_kernel<detail::natural_encode_kernel<true>>(dense.data(), count, to, to + count, fixed);
        else detail::run_kernel<detail::natural_encode_kernel<false>>(dense.data(), count, to, to + count, fixed);
        return max_wire_bytes(count);
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const { add_or_set<false>(received, out); }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const { add_or_set<true>(received, out); }

    std::size_t state_bytes() const { return detail::saved_calls::bytes; }
    void save_state(std::span<std::byte> saved) const { detail::saved_calls::save(saved, format, calls, name); }
    void restore_state(std::span<std::byte const> saved) { calls = detail::saved_calls::restore(saved, format, name); }

 private:
    static constexpr auto format = detail::wire_format::natural;

    template <bool Adds>
    static void add_or_set(std::span<std::byte const> received, std::span<float> out) {
        std::size_t const count = out.size();
        detail::wire_header::read(received, format, count, name).expect_unused_zero(name);
        detail::wire_header::expect_payload(received, count + detail::sign_bytes(count), name);
        detail::expect_unused_signs(received, count, name);
        std::byte const* const from = received.data() + detail::wire_header::bytes;
        detail::run_kernel<detail::natural_decode_kernel<Adds>>(out.data(), count, from, from + count);
    }
};
static_assert(stateful_compressor<natural>);

}  // namespace chorus
