// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/observe/detail/json_text.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include <doctest/doctest.h>

using chorus::detail::json_microseconds;
using chorus::detail::json_text;
using chorus::detail::utf8_length;

TEST_CASE("every byte is escaped or stays") {
    for (int i = 0; i < 256; ++i) {
        std::string const text(1, static_cast<char>(i));
        std::string const json = json_text(text);
        CHECK(json.front() == '"');
        CHECK(json.back() == '"');
        std::string const inside = json.substr(1, json.size() - 2);
        if (i < 0x20) CHECK(inside.substr(0, 4) == "\\u00");
        else if (i == '"' || i == '\\') CHECK(inside == '\\' + text);
        else if (i < 0x80) CHECK(inside == text);
        else CHECK(inside == "\\ufffd");
    }
    CHECK(json_text("").size() == 2);
    CHECK(json_text("\x1f\n") == "\"\\u001f\\u000a\"");
}

TEST_CASE("a code point is one sequence if it is a scalar value, whatever follows") {
    auto const encoded = [](std::uint32_t c) {
        auto const byte = [](std::uint32_t b) { return static_cast<char>(b); };
        if (c < 0x80) return std::string{byte(c)};
        if (c < 0x800) return std::string{byte(0xC0 | c >> 6), byte(0x80 | (c & 0x3F))};
        if (c < 0x10000) return std::string{byte(0xE0 | c >> 12), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
        return std::string{byte(0xF0 | c >> 18), byte(0x80 | (c >> 12 & 0x3F)), byte(0x80 | (c >> 6 & 0x3F)), byte(0x80 | (c & 0x3F))};
    };
    std::uint32_t wrong = 0;
    for (std::uint32_t c = 0; c < 0x120000; ++c) {
        std::string const text = encoded(c);
        bool const is_scalar = c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
        if (utf8_length(text + "z") != (is_scalar ? text.size() : 0)) ++wrong;
        if (text.size() > 1 && utf8_length(text.substr(0, text.size() - 1)) != 0) ++wrong;
        if (text.size() > 1 && utf8_length(text.substr(0, text.size() - 1) + "z") != 0) ++wrong;
    }
    CHECK(wrong == 0);
    CHECK(utf8_length("\xC0\x80") == 0);          // longer than needed
    CHECK(utf8_length("\xE0\x9F\xBF") == 0);
    CHECK(utf8_length("\xF0\x8F\xBF\xBF") == 0);
    CHECK(json_text("\xC3\xA9" "a\xE2\x82") == "\"\xC3\xA9" "a\\ufffd\\ufffd\"");
}

TEST_CASE("microseconds keep their nanoseconds") {
    CHECK(json_microseconds(0) == "0.000");
    CHECK(json_microseconds(7) == "0.007");
    CHECK(json_microseconds(1'234'567) == "1234.567");
    CHECK(json_microseconds(-1'020) == "-1.020");
    CHECK(json_microseconds(-5) == "-0.005");
    CHECK(json_microseconds((std::numeric_limits<std::int64_t>::min)()) == "-9223372036854775.808");
}
