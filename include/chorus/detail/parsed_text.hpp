// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"

#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus::detail {

// Things with parameters as text: name, or name(parameter=value, …), where a value may itself be of this form.

/// Adds ", name=value", or "(name=value" if it is the first.
inline void add_parameter(std::string& text, std::string_view name, std::string const& value) {
    text += text.empty() ? "(" : ", ";
    text += std::string{name} + '=' + value;
}

struct parsed_text {
    std::string name;
    std::vector<std::pair<std::string, std::string>> parameters;  ///< a value without a name has an empty one
};

inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    std::size_t const first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Splits name(key=value, …); commas within inner parentheses belong to the value. Throws `invalid_argument`, also for a
/// value without a name unless those are taken.
inline parsed_text parse_text(std::string_view text, bool takes_unnamed = false) {
    text = trimmed(text);
    auto malformed = [&] {
        return '"' + std::string{text} + "\" is not of the form name or name(parameter=value, ...)";
    };
    std::size_t const open = text.find('(');
    parsed_text result{std::string{trimmed(text.substr(0, open))}, {}};
    if (open == std::string_view::npos) return result;
    expects(text.back() == ')', malformed);
    std::string_view const inner = text.substr(open + 1, text.size() - open - 2);
    std::size_t depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= inner.size(); ++i) {
        bool const ends = i == inner.size();
        if (!ends && inner[i] == '(') ++depth;
        if (!ends && inner[i] == ')') {
            expects(depth > 0, malformed);
            --depth;
        }
        if (!ends && (inner[i] != ',' || depth > 0)) continue;
        std::string_view const part = trimmed(inner.substr(begin, i - begin));
        begin = i + 1;
        if (ends && part.empty() && result.parameters.empty()) break;
        std::size_t const equals = part.find('=');
        if (takes_unnamed && !part.empty() && (equals == std::string_view::npos || equals > part.find('('))) {
            result.parameters.emplace_back(std::string{}, part);
            continue;
        }
        expects(equals != std::string_view::npos && equals > 0, malformed);
        result.parameters.emplace_back(trimmed(part.substr(0, equals)), trimmed(part.substr(equals + 1)));
    }
    expects(depth == 0, malformed);
    return result;
}

/// A whole number that fits in 32 bits. Throws `invalid_argument`.
inline std::uint32_t parse_number(std::string_view name, std::string_view text) {
    std::uint32_t value = 0;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    expects(problem == std::errc{} && end == text.data() + text.size(), [&] {
        return std::string{name} + '=' + std::string{text} + ": a whole number from 0 to 4294967295 is needed";
    });
    return value;
}

// The values of an enumeration are the texts that `words_of` has, a function beside the enumeration.

template <class Value>
std::string value_text(Value value) {
    if constexpr (std::is_enum_v<Value>) {
        return std::string{words_of(value)[static_cast<std::size_t>(value)]};
    } else if constexpr (std::same_as<Value, bool>) {
        return value ? "true" : "false";
    } else {
        char text[64];
        return {text, std::to_chars(text, text + sizeof text, value).ptr};
    }
}

template <class Value>
std::string_view what_is_needed() {
    if constexpr (std::same_as<Value, bool>) return "true or false";
    else if constexpr (std::is_integral_v<Value>) return "a whole number";
    else return "a number";
}

/// Throws `invalid_argument` for a text that is no such value.
template <class Value>
void set_value(Value& value, std::string_view name, std::string_view text) {
    std::string needed;
    if constexpr (std::is_enum_v<Value>) {
        std::size_t i = 0;
        for (std::string_view word : words_of(value)) {
            if (word == text) {
                value = static_cast<Value>(i);
                return;
            }
            needed += (i++ == 0 ? "" : ", ") + std::string{word};
        }
        needed = "one of " + needed;
    } else if constexpr (std::same_as<Value, bool>) {
        if (text == "true" || text == "false") {
            value = text == "true";
            return;
        }
    } else {
        auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (problem == std::errc{} && end == text.data() + text.size()) return;
    }
    if (needed.empty()) needed = what_is_needed<Value>();
    expects(false, [&] { return std::string{name} + '=' + std::string{text} + ": " + needed + " is needed"; });
}

}  // namespace chorus::detail
