// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/adaptor.hpp"
#include "chorus/compress/detail/state_image.hpp"
#include "chorus/compress/detail/wire_header.hpp"
#include "chorus/compress/uncompressed.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace chorus {

/// Sends vectors of fewer than `smallest` elements as they are: biases and norms are few bytes, and matter.
///
/// layout    that of `uncompressed` for counts below `smallest`, that of the compressor inside for others; by the count alone, so ranks
///           must agree about `smallest`
/// promise, NaN, Inf  of whichever of the two makes the message; the policy is that of the compressor inside
/// linear    where the compressor inside is and adds floats
/// state     what the compressor inside has
template <compressor Compressor>
class minimum_size : public detail::payload_of<Compressor> {
    static constexpr auto name_text = detail::nested_name<Compressor>("minimum_size");

    static consteval bool adds_floats() {
        if constexpr (linear_compressor<Compressor>) return std::same_as<typename Compressor::payload_type, float>;
        else return false;
    }

 public:
    static constexpr std::string_view name{name_text.data(), name_text.size()};

    Compressor inner;
    std::size_t smallest;

    explicit minimum_size(Compressor compressor = Compressor{}, std::size_t smallest_count = 1024)
        : inner{std::move(compressor)}, smallest{smallest_count} {}

    std::size_t max_wire_bytes(std::size_t count) const {
        return count < smallest ? uncompressed{}.max_wire_bytes(count) : inner.max_wire_bytes(count);
    }
    std::size_t payload_count(std::size_t count) const requires (adds_floats()) {
        return count < smallest ? count : inner.payload_count(count);
    }
    compression_promise promise(std::size_t count) const {
        return count < smallest ? uncompressed{}.promise(count) : inner.promise(count);
    }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        detail::expect_room(wire, max_wire_bytes(dense.size()), name);
        if (dense.size() >= smallest) return inner.encode(dense, wire);
        return uncompressed{.on_nonfinite = detail::policy_of(inner)}.encode(dense, wire);
    }
    /// See rest_keeping_compressor.
    std::size_t encode_rest(std::span<float> vector, std::span<std::byte> wire)
        requires requires(Compressor& c) { c.encode_rest(vector, wire); } {
        detail::expect_room(wire, max_wire_bytes(vector.size()), name);
        if (vector.size() >= smallest) return inner.encode_rest(vector, wire);
        std::size_t const used = encode(vector, wire);
        std::fill(vector.begin(), vector.end(), 0.0f);
        return used;
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const {
        if (out.size() < smallest) uncompressed{}.decode(received, out);
        else inner.decode(received, out);
    }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const {
        if (out.size() < smallest) uncompressed{}.decode_add(received, out);
        else inner.decode_add(received, out);
    }

    std::size_t state_bytes() const requires stateful_compressor<Compressor> {
        return detail::state_seal_bytes + 8 + inner.state_bytes();
    }
    void save_state(std::span<std::byte> saved) const requires stateful_compressor<Compressor> {
        detail::state_writer writer{saved, state_bytes(), name};
        writer.number(smallest);
        writer.finish_with(inner);
    }
    void restore_state(std::span<std::byte const> saved) requires stateful_compressor<Compressor> {
        detail::state_reader reader{saved, name};
        reader.expect(reader.number() == smallest, [] { return "its smallest count is another"; });
        reader.finish_with(inner);
    }
};

}  // namespace chorus
