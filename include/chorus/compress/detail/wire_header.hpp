// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace chorus::detail {

/// What a message begins with; each number is its compressor's for ever.
enum class wire_format : std::uint8_t {
    uncompressed = 1, half = 2, bfloat16 = 3, float8_e4m3 = 4, float8_e5m2 = 5, block_integer = 6,
    sign_bit = 16, two_centroids = 17, qsgd = 18, ternary = 19, natural = 20, signum = 21,
    sparse = 32, random_k = 33, block_sparse = 34, packed_sparse = 35,
    low_rank = 48
};

/// The 16 bytes before every payload, little-endian:
///
/// byte 0      format
/// byte 1      version of its layout, 1 so far
/// byte 2      detail: the format's own, 0 where it has none
/// bytes 3-7   number: the format's own (entries sent, block size, …), below 2^40
/// bytes 8-15  count of elements that were encoded
struct wire_header {
    static constexpr std::size_t bytes = 16;
    static constexpr std::uint8_t current_version = 1;
    static constexpr std::uint64_t largest_number = (std::uint64_t{1} << 40) - 1;

    wire_format format;
    std::uint8_t detail = 0;
    std::uint64_t number = 0;
    std::uint64_t count = 0;

    void write(std::span<std::byte> wire) const noexcept {
        std::uint64_t const first = static_cast<std::uint64_t>(format) | std::uint64_t{current_version} << 8 | std::uint64_t{detail} << 16 | number << 24;
        put(wire.data(), first);
        put(wire.data() + 8, count);
    }

    /// Of a message for `count` elements in `format`. Raises `corrupt` for anything else, saying what was found.
    static wire_header read(std::span<std::byte const> wire, wire_format format, std::size_t count, std::string_view name) {
        expect_whole(wire.size() >= bytes, name, [&] { return "it has " + std::to_string(wire.size()) + " bytes, the header alone has 16"; });
        std::uint64_t const first = get(wire.data());
        wire_header const h{static_cast<wire_format>(first & 0xFF), static_cast<std::uint8_t>(first >> 16 & 0xFF), first >> 24, get(wire.data() + 8)};
        unsigned const version = first >> 8 & 0xFF;
        expect_whole(h.format == format, name, [&] {
            return "its format is " + std::to_string(static_cast<unsigned>(h.format)) + " instead of " + std::to_string(static_cast<unsigned>(format));
        });
        expect_whole(version == current_version, name, [&] { return "its layout is version " + std::to_string(version) + ", this is 1"; });
        expect_whole(h.count == count, name, [&] {
            return "it stands for " + std::to_string(h.count) + " elements, the output has " + std::to_string(count);
        });
        return h;
    }

    /// Raises `corrupt`, "top_k cannot decode this message: …", unless `is_so`.
    template <class Why>
    static void expect_whole(bool is_so, std::string_view name, Why const& why) {
        if (!is_so) raise(errc::corrupt, std::string{name} + " cannot decode this message: " + why());
    }

    /// Raises `corrupt` unless detail and number are 0: of formats that do not use them.
    void expect_unused_zero(std::string_view name) const {
        expect_whole(detail == 0 && number == 0, name, [] { return "its header has numbers that this format does not use"; });
    }

    /// Raises `corrupt` unless the message has exactly so many bytes after the header.
    static void expect_payload(std::span<std::byte const> wire, std::size_t payload_bytes, std::string_view name) {
        expect_whole(wire.size() - bytes == payload_bytes, name, [&] {
            return "its payload has " + std::to_string(wire.size() - bytes) + " bytes instead of " + std::to_string(payload_bytes);
        });
    }

 private:
    static void put(std::byte* to, std::uint64_t value) noexcept {
        for (int i = 0; i < 8; ++i) to[i] = static_cast<std::byte>(value >> 8 * i & 0xFF);
    }
    static std::uint64_t get(std::byte const* from) noexcept {
        std::uint64_t value = 0;
        for (int i = 0; i < 8; ++i) value |= std::uint64_t{static_cast<std::uint8_t>(from[i])} << 8 * i;
        return value;
    }
};

/// Raises `invalid_argument` unless there is room for the longest message.
inline void expect_room(std::span<std::byte> wire, std::size_t max_wire_bytes, std::string_view name) {
    expects(wire.size() >= max_wire_bytes, [&] {
        return std::string{name} + " needs room for " + std::to_string(max_wire_bytes) + " bytes and was given " + std::to_string(wire.size());
    });
}

}  // namespace chorus::detail
