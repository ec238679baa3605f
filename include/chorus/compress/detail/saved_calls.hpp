// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/detail/wire_header.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace chorus::detail {

/// The state of compressors whose random choices depend on how often they encoded: a header whose count is that number,
/// and whose format has its upper bit set, so that no message is taken for it.
struct saved_calls {
    static constexpr std::size_t bytes = wire_header::bytes;

    static constexpr wire_format as_state(wire_format format) noexcept {
        return static_cast<wire_format>(static_cast<std::uint8_t>(format) | 0x80u);
    }

    static void save(std::span<std::byte> saved, wire_format format, std::uint64_t calls, std::string_view name) {
        expects(saved.size() >= bytes, [&] {
            return std::string{name} + " needs room for " + std::to_string(bytes) + " bytes of state and was given " +
                   std::to_string(saved.size());
        });
        wire_header{as_state(format), 0, 0, calls}.write(saved);
    }

    static std::uint64_t restore(std::span<std::byte const> saved, wire_format format, std::string_view name) {
        bool const is_own = saved.size() == bytes && static_cast<wire_format>(saved[0]) == as_state(format) &&
                            static_cast<std::uint8_t>(saved[1]) == wire_header::current_version;
        wire_header::expect_whole(is_own, name, [&] {
            return "it has " + std::to_string(saved.size()) + " bytes and is no state that this compressor saved";
        });
        std::uint64_t calls = 0;
        for (std::size_t i = 0; i < 8; ++i) calls |= std::uint64_t{static_cast<std::uint8_t>(saved[8 + i])} << 8 * i;
        return calls;
    }
};

}  // namespace chorus::detail
