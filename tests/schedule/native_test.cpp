// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/native.hpp"

#include "chorus/schedule/algorithms.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace chorus;

namespace {

template <class Act>
errc refusal(Act const& act) {
    try {
        act();
    } catch (error const& refused) {
        CHECK(std::string{refused.what()}.find("native") != std::string::npos);
        return refused.code();
    }
    return errc{};
}

}  // namespace

TEST_CASE("native is chosen by type or by name, for every collective") {
    any_algorithm const by_type{native{}};
    CHECK(by_type == algorithm_named("native"));
    CHECK(by_type == algorithm_named(" native() "));
    CHECK_FALSE(by_type == algorithm_named("ring"));
    CHECK(by_type.describe() == native::name);
    for (collective each : all_collectives) CHECK(by_type.supports(each));
    CHECK(by_type.takes_uneven());
    CHECK_FALSE(by_type.keeps_order());
}

TEST_CASE("native has no schedule, no cost, no parameters, and is no part of a hierarchy") {
    any_algorithm const chosen{native{}};
    for (collective each : all_collectives) {
        CHECK(refusal([&] { chosen.make(each, 0, 4); }) == errc::unsupported);
        CHECK(refusal([&] { chosen.cost_of(each, 4, 100); }) == errc::unsupported);
    }
    CHECK(refusal([] { algorithm_named("native(segments=2)"); }) == errc::invalid_argument);
    any_algorithm const hierarchy = algorithm_named("hierarchical(inside=native, between=ring, width=2)");
    CHECK(refusal([&] { hierarchy.make(collective::all_reduce, 0, 4); }) == errc::unsupported);
}

TEST_CASE("native is not among the algorithms of the list, and named where a name is not known") {
    for (std::string_view name : known_algorithms()) CHECK(name != native::name);
    CHECK(refusal([] { algorithm_named("nativ"); }) == errc::invalid_argument);
}
