// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/detail/named_parameters.hpp"

#include <concepts>
#include <string>
#include <string_view>

namespace chorus::detail {

// Algorithms as text: name, or name(parameter=value, …), where a value may itself be an algorithm. The parameters are
// the members `segments`, `in_flight`, `width`, `groups` (2+3+3), `inside` and `between`; an algorithm that has
// others brings `std::string describe() const`.

/// visit(name, member) for each number that the algorithm has.
struct with_algorithm_numbers {
    template <class A, class Visit>
    void operator()(A& a, Visit const& visit) const {
        if constexpr (requires { a.segments; }) visit("segments", a.segments);
        if constexpr (requires { a.in_flight; }) visit("in_flight", a.in_flight);
        if constexpr (requires { a.width; }) visit("width", a.width);
        if constexpr (requires { a.groups; }) visit("groups", a.groups);
    }
};

/// The name, with those parameters that differ from their defaults; inside, between and width are always told.
template <class A>
std::string described(A const& a) {
    std::string parameters;
    if constexpr (requires { { a.describe() } -> std::convertible_to<std::string>; }) {
        return a.describe();
    } else if constexpr (requires { a.inside; a.between; }) {
        add_parameter(parameters, "inside", described(a.inside));
        add_parameter(parameters, "between", described(a.between));
        if (a.groups.empty()) add_parameter(parameters, "width", value_text(a.width));
        else add_parameter(parameters, "groups", value_text(a.groups));
    } else if constexpr (std::default_initializable<A>) {
        parameters = changed_parameters(a, A{}, with_algorithm_numbers{});
    } else {
        with_algorithm_numbers{}(a, [&](std::string_view name, auto const& value) { add_parameter(parameters, name, value_text(value)); });
    }
    return std::string{A::name} + (parameters.empty() ? "" : parameters + ')');
}

using parsed_algorithm = parsed_text;

/// name(key=value, …), where every value has a name. Throws `invalid_argument`.
inline parsed_algorithm parse_algorithm(std::string_view text) { return parse_text(text); }

}  // namespace chorus::detail
