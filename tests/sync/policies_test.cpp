// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/policies.hpp"

#include "chorus/topo/layout.hpp"
#include "suites/expected_error.hpp"

#include <doctest/doctest.h>

#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

using chorus::any_policy;
using chorus::policy_named;

namespace {

std::string refusal(std::string_view text, std::initializer_list<std::string_view> words) {
    return suites::unlike(chorus::errc::invalid_argument, words, [&] { policy_named(text); });
}

}  // namespace

TEST_CASE("every policy of the list has a name of its own, by which it is made") {
    std::set<std::string_view> names;
    for (std::string_view const name : chorus::known_policies()) {
        names.insert(name);
        if (name != "spaced") CHECK(policy_named(name).describe() == name);
    }
    CHECK(names.size() == std::tuple_size_v<chorus::policies>);
}

TEST_CASE("a policy is described as it is named") {
    for (std::string_view const text :
         {"every_step", "local_steps(period=4, offset=1)", "growing_steps(first=2, rounds=3, factor=4, longest=100)",
          "uneven_steps(steps=4+8+2, shares=1+2+3)", "divide_and_shuffle(groups=3, seed=18446744073709551615, cycle=0)",
          "grid_groups(width=4)", "grid_groups(widths=2+3+4)", "pairs_hypercube", "rack_delegates(width=3)",
          "rack_delegates(racks=0+0+1+0)", "given_partitions(0+1/2+3, 0+3/1+2)", "spaced(divide_and_shuffle(groups=3), every=8)",
          "spaced(spaced(given_partitions(0+1/2), every=2), every=4, offset=3)"}) {
        CHECK(policy_named(text).describe() == text);
        CHECK(policy_named(policy_named(text).describe()) == policy_named(text));
    }
    CHECK(policy_named("  divide_and_shuffle ( groups = 2 ) ").describe() == "divide_and_shuffle");
}

TEST_CASE("a policy by name is the one by type") {
    chorus::spaced const typed{4, chorus::rack_delegates{.places = chorus::topo::layout{0, 0, 1, 1, 1}}};
    any_policy const named = policy_named("spaced(rack_delegates(racks=7+7+2+2+2), every=4)");
    CHECK(named.period(5) == typed.period(5));
    for (chorus::step_id step = 0; step < 30; ++step)
        for (chorus::rank_id rank = 0; rank < 5; ++rank) CHECK(named.at(step, rank, 5) == typed.at(step, rank, 5));
}

TEST_CASE("what cannot be named is refused, and says what can") {
    CHECK(refusal("everystep", {"there is no policy \"everystep\"", "every_step", "spaced", "uneven_steps"}) == "");
    CHECK(refusal("local_steps(groups=4)", {"local_steps has no parameter groups; it has period, offset"}) == "");
    CHECK(refusal("local_steps(4)", {"local_steps: 4 is not of the form"}) == "");
    CHECK(refusal("local_steps(period=four)", {"period=four: a whole number is needed"}) == "");
    CHECK(refusal("every_step(period=4)", {"every_step has no parameter period; it has none"}) == "");
    CHECK(refusal("spaced(every=4)", {"spaced is built around one policy, not 0"}) == "");
    CHECK(refusal("spaced(every_step, local_steps)", {"not 2"}) == "");
    CHECK(refusal("given_partitions(steps=2)", {"given_partitions has no parameter steps"}) == "");
    CHECK(refusal("given_partitions(0+x)", {"x", "a whole number is needed"}) == "");
    CHECK(refusal("grid_groups(widths=2+)", {"widths=: a whole number is needed"}) == "");
}
