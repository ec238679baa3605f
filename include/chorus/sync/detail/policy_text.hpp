// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/detail/named_parameters.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace chorus::detail {

// Policies as text: name(parameter=value, …), the parameters being those members that `with_policy_parameters` knows. What is
// built around another policy names that one first; given partitions are one text for each step, groups cut by a slash.

/// Visits the racks of a layout as the list of the rack of each rank, and makes a layout of a list that was changed.
template <class Places, class Visit>
void visit_racks(Places& places, Visit const& visit) {
    std::vector<rank_id> racks;
    for (rank_id rank = 0; places && rank < places->size(); ++rank) racks.push_back(places->host_of(rank));
    std::vector<rank_id> const before = racks;
    visit("racks", racks);
    if constexpr (!std::is_const_v<Places>)
        if (racks != before) places.emplace(racks);
}

/// visit(name, member) for each parameter that the policy has: one line for every name there is.
struct with_policy_parameters {
    template <class P, class Visit>
    void operator()(P& p, Visit const& visit) const {
        if constexpr (requires { p.period.steps; }) visit("period", p.period.steps);
        if constexpr (requires { p.every; }) visit("every", p.every);
        if constexpr (requires { p.offset; }) visit("offset", p.offset);
        if constexpr (requires { p.first; }) visit("first", p.first);
        if constexpr (requires { p.rounds; }) visit("rounds", p.rounds);
        if constexpr (requires { p.factor; }) visit("factor", p.factor);
        if constexpr (requires { p.longest; }) visit("longest", p.longest);
        if constexpr (requires { p.steps; p.shares; }) visit("steps", p.steps), visit("shares", p.shares);
        if constexpr (requires { p.groups; }) visit("groups", p.groups);
        if constexpr (requires { p.seed; }) visit("seed", p.seed);
        if constexpr (requires { p.cycle; }) visit("cycle", p.cycle);
        if constexpr (requires { p.width; }) visit("width", p.width);
        if constexpr (requires { p.widths; }) visit("widths", p.widths);
        if constexpr (requires { p.places; }) visit_racks(p.places, visit);
    }
};

/// 0+1/2+3
inline std::string partition_text(std::vector<std::vector<rank_id>> const& groups) {
    std::string text;
    for (auto const& group : groups) {
        if (!text.empty()) text += '/';
        text += value_text(group);
    }
    return text;
}

/// The same backwards. Throws `invalid_argument`.
inline std::vector<std::vector<rank_id>> parse_partition(std::string_view text) {
    std::vector<std::vector<rank_id>> groups;
    for (std::size_t begin = 0; begin <= text.size();) {
        std::size_t const end = (std::min)(text.find('/', begin), text.size());
        set_value(groups.emplace_back(), "a group", text.substr(begin, end - begin));
        begin = end + 1;
    }
    return groups;
}

/// The name, with those parameters that differ from their defaults.
template <class P>
std::string described_policy(P const& p) {
    std::string parameters;
    if constexpr (requires { { p.describe() } -> std::convertible_to<std::string>; }) {
        return p.describe();
    } else if constexpr (requires { p.inner; p.every; }) {
        parameters = '(' + described_policy(p.inner);
        add_parameter(parameters, "every", value_text(p.every));
        if (p.offset > 0) add_parameter(parameters, "offset", value_text(p.offset));
    } else if constexpr (requires { typename P::partition; }) {
        for (auto const& groups : p.steps) {
            parameters += parameters.empty() ? "(" : ", ";
            parameters += partition_text(groups);
        }
    } else if constexpr (std::default_initializable<P>) {
        parameters = changed_parameters(p, P{}, with_policy_parameters{});
    }
    return std::string{P::name} + (parameters.empty() ? "" : parameters + ')');
}

}  // namespace chorus::detail
