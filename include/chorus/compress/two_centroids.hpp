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

/// A bit for every element: those below 0 become their mean, all others, zeros too, theirs.
///
/// layout    header, the magnitude of the mean below 0 and the other mean as floats of 4 bytes, then a bit for each element,
///           set for those below 0, the first in the lowest bit; the last byte is filled up with 0
/// bytes     24 + ⌈count / 8⌉
/// promise   biased; δ = 1 / count, as that of sign_bit; never worse than sign_bit. Elements are 0 or at least 2^-80
/// NaN, Inf  propagate: all elements become NaN
/// state     none; meant to be wrapped in error_feedback
/// source    Seide et al., "1-bit stochastic gradient descent", Interspeech 2014
struct two_centroids {
    static constexpr std::string_view name = "two_centroids";

    nonfinite on_nonfinite = nonfinite::propagate;

    constexpr std::size_t max_wire_bytes(std::size_t count) const noexcept { return bits_begin + detail::sign_bytes(count); }
    compression_promise promise(std::size_t count) const noexcept {
        return {.contraction = count == 0 ? 1.0 : 1 / static_cast<double>(count), .smallest = 0x1p-80f};
    }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) const {
        detail::expect_room(wire, max_wire_bytes(dense.size()), name);
        detail::refuse_nonfinite(dense, on_nonfinite, name);
        detail::wire_header{detail::wire_format::two_centroids, 0, 0, dense.size()}.write(wire);
        bool const sanitises = on_nonfinite == nonfinite::sanitise;
        auto sums = detail::encode_signs<true>(dense, wire.data() + bits_begin, sanitises);
        double const both = sums.negative + sums.positive;
        if (both - both != 0) sums.negative = sums.positive = both;  // not finite: neither mean is
        std::byte* const means = wire.data() + detail::wire_header::bytes;
        detail::put_float(means, detail::mean_magnitude(sums.negative, sums.negatives));
        detail::put_float(means + 4, detail::mean_magnitude(sums.positive, dense.size() - sums.negatives));
        return max_wire_bytes(dense.size());
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const { set_or_add(received, out, false); }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const { set_or_add(received, out, true); }

 private:
    static constexpr std::size_t bits_begin = detail::wire_header::bytes + 8;

    static void set_or_add(std::span<std::byte const> received, std::span<float> out, bool adds) {
        using detail::wire_header;
        wire_header::read(received, detail::wire_format::two_centroids, out.size(), name).expect_unused_zero(name);
        wire_header::expect_payload(received, 8 + detail::sign_bytes(out.size()), name);
        detail::expect_unused_signs(received, out.size(), name);
        float const below = detail::float_at(received.data() + wire_header::bytes);
        float const above = detail::float_at(received.data() + wire_header::bytes + 4);
        wire_header::expect_whole(detail::is_mean_magnitude(below) && detail::is_mean_magnitude(above), name,
                                  [] { return "its means are never written"; });
        detail::decode_signs(out, received.data() + bits_begin, -below, above, adds);
    }
};
static_assert(compressor<two_centroids>);

}  // namespace chorus
