// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace chorus::detail {

// Algorithms as text: name, or name(parameter=value, …), where a value may itself be an algorithm. The parameters are
// the members `segments`, `in_flight`, `width`, `groups` (2+3+3), `inside` and `between`; an algorithm that has
// others brings `std::string describe() const`.

template <class A>
std::string described(A const& a);

/// Adds ", name=value", or "(name=value" if it is the first.
inline void add_parameter(std::string& text, std::string_view name, std::string const& value) {
    text += text.empty() ? "(" : ", ";
    text += std::string{name} + '=' + value;
}

template <class A, class Value>
void add_changed(std::string& text, std::string_view name, Value A::*member, A const& a) {
    if constexpr (std::default_initializable<A>)
        if (a.*member == A{}.*member) return;
    add_parameter(text, name, std::to_string(a.*member));
}

/// The name, with those parameters that differ from their defaults; inside, between and width are always told.
template <class A>
std::string described(A const& a) {
    if constexpr (requires { { a.describe() } -> std::convertible_to<std::string>; }) {
        return a.describe();
    } else {
        std::string parameters;
        if constexpr (requires { a.segments; }) add_changed(parameters, "segments", &A::segments, a);
        if constexpr (requires { a.in_flight; }) add_changed(parameters, "in_flight", &A::in_flight, a);
        if constexpr (requires { a.inside; a.between; }) {
            add_parameter(parameters, "inside", described(a.inside));
            add_parameter(parameters, "between", described(a.between));
        }
        if constexpr (requires { a.width; a.groups; }) {
            std::string sizes;
            for (auto ranks : a.groups) sizes += (sizes.empty() ? "" : "+") + std::to_string(ranks);
            if (a.groups.empty()) add_parameter(parameters, "width", std::to_string(a.width));
            else add_parameter(parameters, "groups", sizes);
        }
        return std::string{A::name} + (parameters.empty() ? "" : parameters + ')');
    }
}

struct parsed_algorithm {
    std::string name;
    std::vector<std::pair<std::string, std::string>> parameters;
};

inline std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t\r\n";
    std::size_t const first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Splits name(key=value, …); commas within inner parentheses belong to the value. Throws `invalid_argument`.
inline parsed_algorithm parse_algorithm(std::string_view text) {
    text = trimmed(text);
    auto malformed = [&] {
        return '"' + std::string{text} + "\" is not of the form name or name(parameter=value, ...)";
    };
    std::size_t const open = text.find('(');
    parsed_algorithm result{std::string{trimmed(text.substr(0, open))}, {}};
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

/// Sets a number of the algorithm; false if it has none of that name.
template <class A>
bool set_number(A& a, std::string_view name, std::string_view value) {
    if constexpr (requires { a.segments; })
        if (name == "segments") return a.segments = parse_number(name, value), true;
    if constexpr (requires { a.in_flight; })
        if (name == "in_flight") return a.in_flight = parse_number(name, value), true;
    if constexpr (requires { a.width; })
        if (name == "width") return a.width = parse_number(name, value), true;
    if constexpr (requires { a.groups; })
        if (name == "groups") {
            a.groups.clear();
            for (std::size_t begin = 0; begin <= value.size();) {
                std::size_t const end = (std::min)(value.find('+', begin), value.size());
                a.groups.push_back(parse_number(name, value.substr(begin, end - begin)));
                begin = end + 1;
            }
            return true;
        }
    return false;
}

/// The names that `set_number` knows, for messages.
template <class A>
std::string number_names() {
    std::string names;
    auto add = [&](char const* name) { names += (names.empty() ? "" : ", ") + std::string{name}; };
    if constexpr (requires(A a) { a.segments; }) add("segments");
    if constexpr (requires(A a) { a.in_flight; }) add("in_flight");
    if constexpr (requires(A a) { a.width; }) add("width");
    if constexpr (requires(A a) { a.groups; }) add("groups");
    return names;
}

}  // namespace chorus::detail
