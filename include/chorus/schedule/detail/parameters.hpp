// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/detail/parsed_text.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace chorus::detail {

// Algorithms as text: name, or name(parameter=value, …), where a value may itself be an algorithm. The parameters are
// the members `segments`, `in_flight`, `width`, `groups` (2+3+3), `inside` and `between`; an algorithm that has
// others brings `std::string describe() const`.

template <class A>
std::string described(A const& a);

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
            for (auto ranks : a.groups) {
                if (!sizes.empty()) sizes += '+';
                sizes += std::to_string(ranks);
            }
            if (a.groups.empty()) add_parameter(parameters, "width", std::to_string(a.width));
            else add_parameter(parameters, "groups", sizes);
        }
        return std::string{A::name} + (parameters.empty() ? "" : parameters + ')');
    }
}

using parsed_algorithm = parsed_text;

/// name(key=value, …), where every value has a name. Throws `invalid_argument`.
inline parsed_algorithm parse_algorithm(std::string_view text) { return parse_text(text); }

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
