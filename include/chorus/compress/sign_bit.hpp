// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/sign_bits.hpp"
#include "chorus/compress/detail/wire_header.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// The sign of every element, and one scale: the mean magnitude. An element below 0 becomes -scale, all others, zeros too,
/// +scale.
///
/// layout    header, the scale as a float of 4 bytes, then a bit for each element, set for those below 0, the first in the
///           lowest bit; the last byte is filled up with 0
/// bytes     20 + ⌈count / 8⌉
/// promise   biased; δ = 1 / count, for one element among zeros; of a dense vector δ = |x|₁² / (count |x|₂²), about 0.6.
///           Elements are 0 or at least 2^-80
/// NaN, Inf  propagate: all elements become NaN
/// state     none; meant to be wrapped in error_feedback
/// source    Karimireddy et al., "Error feedback fixes SignSGD", ICML 2019
struct sign_bit {
    static constexpr std::string_view name = "sign_bit";

    nonfinite on_nonfinite = nonfinite::propagate;

    constexpr std::size_t max_wire_bytes(std::size_t count) const noexcept { return bits_begin + detail::sign_bytes(count); }
    compression_promise promise(std::size_t count) const noexcept {
        return {.contraction = count == 0 ? 1.0 : 1 / static_cast<double>(count), .smallest = 0x1p-80f};
    }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) const {
        detail::expect_room(wire, max_wire_bytes(dense.size()), name);
        detail::refuse_nonfinite(dense, on_nonfinite, name);
        detail::wire_header{detail::wire_format::sign_bit, 0, 0, dense.size()}.write(wire);
        bool const sanitises = on_nonfinite == nonfinite::sanitise;
        auto const sums = detail::encode_signs<false>(dense, wire.data() + bits_begin, sanitises);
        detail::put_float(wire.data() + detail::wire_header::bytes, detail::mean_magnitude(sums.positive, dense.size()));
        return max_wire_bytes(dense.size());
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const { set_or_add(received, out, false); }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const { set_or_add(received, out, true); }

 private:
    static constexpr std::size_t bits_begin = detail::wire_header::bytes + 4;

    static void set_or_add(std::span<std::byte const> received, std::span<float> out, bool adds) {
        using detail::wire_header;
        wire_header::read(received, detail::wire_format::sign_bit, out.size(), name).expect_unused_zero(name);
        wire_header::expect_payload(received, 4 + detail::sign_bytes(out.size()), name);
        detail::expect_unused_signs(received, out.size(), name);
        float const scale = detail::float_at(received.data() + wire_header::bytes);
        wire_header::expect_whole(detail::is_mean_magnitude(scale), name, [] { return "its scale is never written"; });
        detail::decode_signs(out, received.data() + bits_begin, -scale, scale, adds);
    }
};
static_assert(compressor<sign_bit>);

}  // namespace chorus
