// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/cast.hpp"
#include "chorus/data/half.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// Every element rounded to IEEE 754 binary16, to nearest, ties to even.
///
/// layout    header, then count halves of 2 bytes, little-endian
/// bytes     16 + 2 count
/// promise   δ = 1 - 2^-22 for magnitudes from 2^-14 to 65504; biased; payloads add, in half
/// range     smaller ones keep an absolute error of 2^-25; from 65520 on an infinity
/// NaN, Inf  propagate: NaN stays NaN, infinity infinity; no other element suffers; sanitise: what is too large becomes 65504
/// state     none
struct half_cast {
    static constexpr std::string_view name = "half_cast";
    using payload_type = half;

    nonfinite on_nonfinite = nonfinite::propagate;

    constexpr std::size_t max_wire_bytes(std::size_t count) const noexcept { return cast::max_wire_bytes(count); }
    constexpr std::size_t payload_count(std::size_t count) const noexcept { return count; }
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
    using cast = detail::cast<detail::half_format, detail::wire_format::half>;
};
static_assert(linear_compressor<half_cast>);

}  // namespace chorus
