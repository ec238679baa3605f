// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/cast.hpp"
#include "chorus/data/bfloat16.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// Every element rounded to the upper half of a float, to nearest, ties to even.
///
/// layout    header, then count bfloat16 of 2 bytes, little-endian
/// bytes     16 + 2 count
/// promise   δ = 1 - 2^-16 for normal magnitudes up to 3.39e38; biased; payloads add, in bfloat16
/// range     that of float; what rounds beyond the largest is an infinity
/// NaN, Inf  propagate: NaN stays NaN, infinity infinity; no other element suffers; sanitise: what is too large becomes 3.39e38
/// state     none
struct bfloat16_cast {
    static constexpr std::string_view name = "bfloat16_cast";
    using payload_type = bfloat16;

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
    using cast = detail::cast<detail::bfloat16_format, detail::wire_format::bfloat16>;
};
static_assert(linear_compressor<bfloat16_cast>);

}  // namespace chorus
