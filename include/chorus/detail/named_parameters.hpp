// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/detail/parsed_text.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::detail {

// The parameters of a kind of things, as text. `with(thing, visit)` calls visit(name, member) for each that the thing has.
// Lists of whole numbers are written 1+2+3.

template <class Number>
std::string value_text(std::vector<Number> const& list) {
    std::string text;
    for (Number const each : list) {
        if (!text.empty()) text += '+';
        text += value_text(each);
    }
    return text;
}

/// An empty text is an empty list. Throws `invalid_argument` for what is no list of numbers.
template <class Number>
void set_value(std::vector<Number>& list, std::string_view name, std::string_view text) {
    list.clear();
    for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
        std::size_t const end = (std::min)(text.find('+', begin), text.size());
        set_value(list.emplace_back(), name, text.substr(begin, end - begin));
        begin = end + 1;
    }
}

/// "(name=value, …" of those parameters that differ from those of `plain`; nothing if none does.
template <class Thing, class With>
std::string changed_parameters(Thing const& thing, Thing const& plain, With const& with) {
    std::string text;
    with(thing, [&](std::string_view name, auto const& value) {
        std::string const told = value_text(value);
        with(plain, [&](std::string_view other, auto const& usual) {
            if (other == name && value_text(usual) != told) add_parameter(text, name, told);
        });
    });
    return text;
}

/// Throws `invalid_argument` for a value without a name.
inline void expect_all_named(parsed_text const& asked) {
    for (auto const& [name, text] : asked.parameters)
        expects(!name.empty(), [&, &value = text] { return asked.name + ": " + value + " is not of the form parameter=value"; });
}

/// Sets the parameters that the text names; those without a name are left alone, and those that are set `elsewhere`. Throws
/// `invalid_argument` for others, and says which exist.
template <class Thing, class With>
void set_parameters(Thing& thing, parsed_text const& asked, With const& with, std::initializer_list<std::string_view> elsewhere = {}) {
    for (auto const& [key, text] : asked.parameters) {
        bool is_known = key.empty();
        std::string names;
        auto const meet = [&, &name = key](std::string_view each) {
            if (!names.empty()) names += ", ";
            names += each;
            is_known = is_known || each == name;
            return each == name;
        };
        for (std::string_view each : elsewhere) meet(each);
        with(thing, [&, &wanted = text](std::string_view each, auto& value) {
            if (meet(each)) set_value(value, each, wanted);
        });
        expects(is_known, [&, &name = key] {
            return asked.name + " has no parameter " + name + "; it has " + (names.empty() ? "none" : names);
        });
    }
}

}  // namespace chorus::detail
