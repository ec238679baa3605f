// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/wire_header.hpp"

#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

namespace chorus {

/// The elements as they are: what others are compared with.
///
/// layout    header, then count floats of 4 bytes, little-endian
/// bytes     16 + 4 count
/// promise   unbiased, δ = 1, a selection; payloads add
/// NaN, Inf  propagate: every bit survives, no other element suffers
/// state     none
struct uncompressed {
    static constexpr std::string_view name = "uncompressed";
    using payload_type = float;

    nonfinite on_nonfinite = nonfinite::propagate;

    constexpr std::size_t max_wire_bytes(std::size_t count) const noexcept {
        return detail::wire_header::bytes + 4 * count;
    }
    constexpr std::size_t payload_count(std::size_t count) const noexcept { return count; }
    constexpr compression_promise promise(std::size_t) const noexcept {
        return {.is_unbiased = true, .contraction = 1.0, .is_selection = true};
    }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) const {
        detail::expect_room(wire, max_wire_bytes(dense.size()), name);
        detail::refuse_nonfinite(dense, on_nonfinite, name);
        detail::wire_header{detail::wire_format::uncompressed, 0, 0, dense.size()}.write(wire);
        std::byte* const payload = wire.data() + detail::wire_header::bytes;
        if (!dense.empty()) std::memcpy(payload, dense.data(), 4 * dense.size());
        if (on_nonfinite == nonfinite::sanitise) detail::sanitise_in(payload, dense.size());
        return max_wire_bytes(dense.size());
    }

    void decode(std::span<std::byte const> received, std::span<float> out) const {
        std::byte const* const payload = checked(received, out.size());
        if (!out.empty()) std::memcpy(out.data(), payload, 4 * out.size());
    }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const {
        std::byte const* const payload = checked(received, out.size());
        for (std::size_t i = 0; i < out.size(); ++i) out[i] += detail::float_at(payload + 4 * i);
    }

 private:
    static std::byte const* checked(std::span<std::byte const> received, std::size_t count) {
        detail::wire_header const header =
            detail::wire_header::read(received, detail::wire_format::uncompressed, count, name);
        header.expect_unused_zero(name);
        detail::wire_header::expect_payload(received, 4 * count, name);
        return received.data() + detail::wire_header::bytes;
    }
};
static_assert(linear_compressor<uncompressed>);

}  // namespace chorus
