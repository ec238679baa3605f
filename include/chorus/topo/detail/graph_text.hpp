// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/detail/parsed_text.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::topo::detail {

// Graphs as text: name(parameter=value, …), the parameters being those members that `with_graph_parameters` knows. A graph
// with others brings `std::string describe() const`, and may bring `bool set(std::string_view name, std::string_view text)`.

using chorus::detail::parsed_text;

/// visit(name, member) for each parameter that the graph has: one line for every name there is.
template <class G, class Visit>
void with_graph_parameters(G& g, Visit const& visit) {
    if constexpr (requires { g.base; }) visit("base", g.base);
    if constexpr (requires { g.peers; }) visit("peers", g.peers);
    if constexpr (requires { g.centre; }) visit("centre", g.centre);
    if constexpr (requires { g.rows; }) visit("rows", g.rows);
    if constexpr (requires { g.cycles; }) visit("cycles", g.cycles);
    if constexpr (requires { g.width; }) visit("width", g.width);
    if constexpr (requires { g.is_directed; }) visit("is_directed", g.is_directed);
    if constexpr (requires { g.seed; }) visit("seed", g.seed);
}

/// The name, with those parameters that differ from their defaults.
template <class G>
std::string described_graph(G const& g) {
    if constexpr (requires { { g.describe() } -> std::convertible_to<std::string>; }) {
        return g.describe();
    } else if constexpr (std::default_initializable<G>) {
        std::string parameters;
        G const plain{};
        with_graph_parameters(g, [&](std::string_view name, auto const& value) {
            std::string const text = chorus::detail::value_text(value);
            std::string usual;
            with_graph_parameters(plain, [&](std::string_view other, auto const& its) {
                if (other == name) usual = chorus::detail::value_text(its);
            });
            if (text != usual) chorus::detail::add_parameter(parameters, name, text);
        });
        return std::string{G::name} + (parameters.empty() ? "" : parameters + ')');
    } else {
        return std::string{G::name};
    }
}

/// Sets the parameters that the text names. Throws `invalid_argument` for others, and says which exist.
template <class G>
void set_graph_parameters(G& g, parsed_text const& asked) {
    for (auto const& [name, text] : asked.parameters) {
        bool is_known = false;
        std::string names;
        with_graph_parameters(g, [&, &key = name, &wanted = text](std::string_view each, auto& value) {
            names += (names.empty() ? "" : ", ") + std::string{each};
            if (each != key) return;
            chorus::detail::set_value(value, each, wanted);
            is_known = true;
        });
        if constexpr (requires { G::set_name; }) {
            is_known = is_known || g.set(name, text);
            names += (names.empty() ? "" : ", ") + std::string{G::set_name};
        }
        expects(is_known, [&, &key = name, &value = text] {
            return asked.name + " has no parameter " + (key.empty() ? value : key) + "; it has " +
                   (names.empty() ? "none" : names);
        });
    }
}

/// 1+2+3.
inline std::string ranks_text(std::vector<rank_id> const& ranks) {
    std::string text;
    for (rank_id const rank : ranks) text += (text.empty() ? "" : "+") + std::to_string(rank);
    return text;
}

/// The same backwards; an empty text has no ranks.
inline std::vector<rank_id> parse_ranks(std::string_view name, std::string_view text) {
    std::vector<rank_id> ranks;
    for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
        std::size_t const end = (std::min)(text.find('+', begin), text.size());
        ranks.push_back(chorus::detail::parse_number(name, text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return ranks;
}

}  // namespace chorus::topo::detail
