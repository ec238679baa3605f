// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/detail/named_list.hpp"
#include "chorus/detail/parsed_text.hpp"
#include "chorus/topo/alternating.hpp"
#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/detail/graph_text.hpp"
#include "chorus/topo/expander.hpp"
#include "chorus/topo/exponential.hpp"
#include "chorus/topo/full.hpp"
#include "chorus/topo/given_graph.hpp"
#include "chorus/topo/grid_graph.hpp"
#include "chorus/topo/hypercube_graph.hpp"
#include "chorus/topo/inner_outer.hpp"
#include "chorus/topo/matching_budget.hpp"
#include "chorus/topo/one_peer_exponential.hpp"
#include "chorus/topo/one_peer_hypercube.hpp"
#include "chorus/topo/random_matching.hpp"
#include "chorus/topo/ring_graph.hpp"
#include "chorus/topo/star.hpp"
#include "chorus/topo/torus.hpp"

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace chorus::topo {

/// Every graph of this folder. An entry here is what makes one selectable by name; using it by type needs none.
using graphs = std::tuple<alternating, expander, exponential, full, given_graph, grid_graph, hypercube_graph, inner_outer,
                          matching_budget, one_peer_exponential, one_peer_hypercube, random_matching, ring_graph, star, torus>;

/// The names that `graph_named` knows, in the order of the list.
inline std::vector<std::string_view> known_graphs() {
    return chorus::detail::names_in<graphs>();
}

namespace detail {

inline any_graph graph_from(parsed_text const& asked);

/// Graphs around others name those first and have nothing else.
inline any_graph alternating_from(parsed_text const& asked) {
    alternating made;
    for (auto const& [name, text] : asked.parameters) {
        expects(name.empty(), [&, &key = name] {
            return "alternating has no parameter " + key + "; it has graphs: alternating(ring_graph, full)";
        });
        made.graphs.push_back(graph_from(chorus::detail::parse_text(text, true)));
    }
    expects(!made.graphs.empty(), [] { return "alternating is made of graphs: alternating(ring_graph, full)"; });
    return made;
}

/// Matchings of the graph that is named first, if one is.
inline any_graph matching_budget_from(parsed_text const& asked) {
    matching_budget made;
    std::size_t wholes = 0;
    for (auto const& [name, text] : asked.parameters) {
        if (!name.empty()) continue;
        expects(++wholes == 1, [] { return "matching_budget has one graph inside: matching_budget(torus, budget=0.5)"; });
        made.whole = graph_from(chorus::detail::parse_text(text, true));
    }
    chorus::detail::set_parameters(made, asked, with_graph_parameters{});
    return made;
}

inline any_graph graph_from(parsed_text const& asked) {
    std::optional<any_graph> found;
    auto const make = [&]<class G>(G g) {
        if (asked.name != G::name) return;
        if constexpr (std::same_as<G, alternating>) {
            found = alternating_from(asked);
        } else if constexpr (std::same_as<G, matching_budget>) {
            found = matching_budget_from(asked);
        } else {
            set_graph_parameters(g, asked);
            found = std::move(g);
        }
    };
    std::apply([&](auto const&... each) { (make(each), ...); }, graphs{});
    expects(found.has_value(), [&] { return chorus::detail::none_named("graph", asked.name, known_graphs()); });
    return *std::move(found);
}

}  // namespace detail

/// The graph that a text describes: "ring_graph", "expander(cycles=3, seed=7)", "alternating(one_peer_exponential, full)",
/// "matching_budget(hypercube_graph, budget=0.25)",
/// "given_graph(sends_to=1+2/2/0)" (a list for each rank), "inner_outer(hosts=0+0+1+1)" (the host of each rank). What is left
/// out has its default. Throws `invalid_argument` for unknown names and parameters, and says which exist; what does not fit
/// a number of ranks is told when the graph is asked.
inline any_graph graph_named(std::string_view text) {
    return detail::graph_from(chorus::detail::parse_text(text, true));
}

}  // namespace chorus::topo
