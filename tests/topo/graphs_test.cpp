// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/graphs.hpp"

#include "suites/expected_error.hpp"

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include <doctest/doctest.h>

using namespace chorus;
using topo::graph_named;

namespace {

std::string refusal(std::string_view text, std::initializer_list<std::string_view> words) {
    return suites::unlike(errc::invalid_argument, words, [&] { graph_named(text); });
}

}  // namespace

TEST_CASE("every graph of the list has a name of its own, by which it is made") {
    std::set<std::string_view> names;
    for (std::string_view name : topo::known_graphs()) {
        names.insert(name);
        if (name == "alternating") continue;
        CHECK(graph_named(name).kind() == name);
        CHECK(graph_named(name).describe() == name);
    }
    CHECK(names.size() == std::tuple_size_v<topo::graphs>);
}

TEST_CASE("a graph is described as it is named") {
    for (std::string_view text :
         {"ring_graph(is_directed=true)", "star(centre=3)", "grid_graph(rows=2)", "torus(rows=2)",
          "exponential(base=3, peers=2, is_directed=false)", "one_peer_exponential(base=4)", "random_matching(seed=18446744073709551615)",
          "expander(cycles=3, seed=9)", "inner_outer(width=2)", "inner_outer(hosts=0+0+1+0)", "given_graph(sends_to=1+2/2/0)",
          "given_graph(sends_to=1//0)", "alternating(one_peer_exponential(base=3), full, alternating(star, torus))"}) {
        CHECK(graph_named(text).describe() == text);
        CHECK(graph_named(graph_named(text).describe()) == graph_named(text));
    }
    CHECK(graph_named("  expander ( seed = 0 , cycles=2 )").describe() == "expander");
}

TEST_CASE("a graph by name is the one by type") {
    for (step_id step = 0; step < 8; ++step) {
        CHECK(graph_named("exponential(base=3)").at(step, 2, 12) == topo::exponential{.base = 3}.at(step, 2, 12));
        CHECK(graph_named("inner_outer(hosts=5+5+1+5)").at(step, 2, 4) ==
              topo::inner_outer{.places = topo::layout{5, 5, 1, 5}}.at(step, 2, 4));
        CHECK(graph_named("given_graph(sends_to=1+2/2/0)").at(step, 2, 3) ==
              topo::given_graph{{{1, 2}, {2}, {0}}}.at(step, 2, 3));
        CHECK(graph_named("alternating(full, star)").at(step, 2, 4) ==
              topo::alternating{{topo::full{}, topo::star{}}}.at(step, 2, 4));
    }
}

TEST_CASE("what cannot be named is refused, and says what can") {
    CHECK(refusal("ring", {"there is no graph \"ring\"", "ring_graph", "one_peer_exponential", "torus"}) == "");
    CHECK(refusal("torus(columns=3)", {"torus has no parameter columns; it has rows"}) == "");
    CHECK(refusal("full(rows=3)", {"full has no parameter rows; it has none"}) == "");
    CHECK(refusal("torus(rows=many)", {"rows=many: a whole number is needed"}) == "");
    CHECK(refusal("ring_graph(is_directed=1)", {"true or false is needed"}) == "");
    CHECK(refusal("inner_outer(hosts=0+x)", {"hosts=x"}) == "");
    CHECK(refusal("inner_outer(racks=2)", {"it has hosts, width"}) == "");
    CHECK(refusal("given_graph(sends_to=1+/2)", {"sends_to="}) == "");
    CHECK(refusal("alternating", {"alternating is made of graphs"}) == "");
    CHECK(refusal("alternating(full, rows=2)", {"alternating has no parameter rows"}) == "");
    CHECK(refusal("alternating(full, nothing)", {"there is no graph \"nothing\""}) == "");
    CHECK(refusal("torus(full)", {"torus: full is not of the form parameter=value"}) == "");
}
