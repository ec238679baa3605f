// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/detail/named_parameters.hpp"

#include <concepts>
#include <string>
#include <string_view>

namespace chorus::topo::detail {

// Graphs as text: name(parameter=value, …), the parameters being those members that `with_graph_parameters` knows. A graph
// with others brings `std::string describe() const`, and may bring `bool set(std::string_view name, std::string_view text)`
// for the one named `set_name`.

using chorus::detail::parsed_text;

/// visit(name, member) for each parameter that the graph has: one line for every name there is.
struct with_graph_parameters {
    template <class G, class Visit>
    void operator()(G& g, Visit const& visit) const {
        if constexpr (requires { g.base; }) visit("base", g.base);
        if constexpr (requires { g.peers; }) visit("peers", g.peers);
        if constexpr (requires { g.centre; }) visit("centre", g.centre);
        if constexpr (requires { g.rows; }) visit("rows", g.rows);
        if constexpr (requires { g.cycles; }) visit("cycles", g.cycles);
        if constexpr (requires { g.width; }) visit("width", g.width);
        if constexpr (requires { g.budget; }) visit("budget", g.budget);
        if constexpr (requires { g.is_directed; }) visit("is_directed", g.is_directed);
        if constexpr (requires { g.seed; }) visit("seed", g.seed);
    }
};

/// The name, with those parameters that differ from their defaults.
template <class G>
std::string described_graph(G const& g) {
    if constexpr (requires { { g.describe() } -> std::convertible_to<std::string>; }) {
        return g.describe();
    } else if constexpr (std::default_initializable<G>) {
        std::string const parameters = chorus::detail::changed_parameters(g, G{}, with_graph_parameters{});
        return std::string{G::name} + (parameters.empty() ? "" : parameters + ')');
    } else {
        return std::string{G::name};
    }
}

/// Sets the parameters that the text names. Throws `invalid_argument` for others, and says which exist.
template <class G>
void set_graph_parameters(G& g, parsed_text const& asked) {
    chorus::detail::expect_all_named(asked);
    if constexpr (requires { G::set_name; }) {
        for (auto const& [name, text] : asked.parameters) g.set(name, text);
        chorus::detail::set_parameters(g, asked, with_graph_parameters{}, {G::set_name});
    } else {
        chorus::detail::set_parameters(g, asked, with_graph_parameters{});
    }
}

}  // namespace chorus::topo::detail
