// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/cast.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// Every element rounded to 8 bits: sign, 5 bits of exponent (bias 15), 2 of fraction; to nearest, ties to even.
///
/// layout    header, then count bytes, each the upper half of a binary16
/// bytes     16 + count
/// promise   δ = 1 - 2^-6 for magnitudes from 2^-14 to 57344; biased
/// range     smaller ones keep an absolute error of 2^-17; from 61440 on an infinity
/// source    Micikevicius et al., "FP8 formats for deep learning", 2022
/// NaN, Inf  propagate: NaN stays NaN, infinity infinity; no other element suffers; sanitise: what is too large becomes 57344
/// state     none
struct float8_e5m2_cast {
    static constexpr std::string_view name = "float8_e5m2_cast";

    nonfinite on_nonfinite = nonfinite::propagate;

    constexpr std::size_t max_wire_bytes(std::size_t count) const noexcept { return cast::max_wire_bytes(count); }
    compression_promise promise(std::size_t) const noexcept { return cast::promise(); }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) const {
        return cast::encode(dense, wire, on_nonfinite, name);
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const {
        cast::decode<false>(received, out, name);
    }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const {
        cast::decode<true>(received, out, name);
    }

 private:
    using cast = detail::cast<detail::float8_e5m2_format, detail::wire_format::float8_e5m2>;
};
static_assert(compressor<float8_e5m2_cast>);

}  // namespace chorus
