// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chorus::detail {

/// Bytes of the well-formed UTF-8 sequence at the beginning of a text that is not empty; 0: there is none. (RFC 3629, 4)
constexpr std::size_t utf8_length(std::string_view text) noexcept {
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    unsigned const first = byte(0);
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    std::size_t const length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (text.size() < length) return 0;
    unsigned const lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    unsigned const highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < lowest || byte(1) > highest) return 0;
    for (std::size_t i = 2; i < length; ++i)
        if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
    return length;
}

/// The text as a JSON string, quotes included; what is not UTF-8, as where a text was cut, becomes U+FFFD.
inline std::string json_text(std::string_view text) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out = "\"";
    while (!text.empty()) {
        auto const first = static_cast<unsigned char>(text.front());
        std::size_t const length = utf8_length(text);
        if (length == 0) out += "\\ufffd";
        else if (first == '"' || first == '\\') out += {'\\', text.front()};
        else if (first < 0x20) out += {'\\', 'u', '0', '0', digits[first >> 4], digits[first & 0xF]};
        else out += text.substr(0, length);
        text.remove_prefix((std::max)(length, std::size_t{1}));
    }
    return out += '"';
}

/// Microseconds with all three digits after the point.
inline std::string json_microseconds(std::int64_t nanoseconds) {
    auto const distance = nanoseconds < 0 ? 0 - static_cast<std::uint64_t>(nanoseconds) : static_cast<std::uint64_t>(nanoseconds);
    std::string const part = std::to_string(distance % 1000);
    return (nanoseconds < 0 ? "-" : "") + std::to_string(distance / 1000) + '.' + std::string(3 - part.size(), '0') + part;
}

}  // namespace chorus::detail
