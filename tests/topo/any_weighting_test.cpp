// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/any_weighting.hpp"

#include "chorus/topo/star.hpp"
#include "suites/expected_error.hpp"

#include <doctest/doctest.h>

using namespace chorus;
using topo::any_weighting;
using topo::weighting_named;

TEST_CASE("a weighting by name does what the one by type does") {
    auto check = [](auto const& typed) {
        any_weighting const named = weighting_named(typed.name);
        CHECK(named.kind() == typed.name);
        CHECK(named == any_weighting{typed});
        for (rank_id rank = 0; rank < 5; ++rank)
            CHECK(named.row(topo::star{}, 0, rank, 5) == typed.row(topo::star{}, 0, rank, 5));
    };
    check(topo::metropolis{});
    check(topo::max_degree{});
    check(topo::uniform{});
    check(topo::out_degree{});
    CHECK(any_weighting{} == weighting_named("metropolis"));
    CHECK(!(weighting_named("uniform") == weighting_named("out_degree")));
}

TEST_CASE("a weighting that does not exist is refused, and those that do are named") {
    CHECK(suites::unlike(errc::invalid_argument, {"no weighting \"best\"", "metropolis", "out_degree"},
                         [] { weighting_named("best"); }) == "");
}
