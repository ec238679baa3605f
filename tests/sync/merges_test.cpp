// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/merges.hpp"

#include "suites/expected_error.hpp"

#include <doctest/doctest.h>

#include <array>
#include <initializer_list>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

using chorus::any_merge;
using chorus::merge_named;

namespace {

std::string refusal(std::string_view text, std::initializer_list<std::string_view> words) {
    return suites::unlike(chorus::errc::invalid_argument, words, [&] { merge_named(text); });
}

/// What two rounds make of three elements.
template <class M>
std::vector<float> merged_twice(M const& m) {
    std::vector<float> current{1, 2, 3}, arrived{4, -2, 8}, kept(3 * M::kept_copies);
    if constexpr (chorus::beginning_merge<M, float>) m.begin(std::span<float const>{current}, std::span{kept});
    for (std::uint64_t round = 0; round < 2; ++round)
        m.merge(chorus::arrival<float>{current, arrived, std::span<float const>{current}, kept, 2, round});
    return current;
}

}  // namespace

TEST_CASE("every merge of the list has a name of its own, by which it is made") {
    std::set<std::string_view> names;
    for (std::string_view const name : chorus::known_merges()) {
        names.insert(name);
        CHECK(merge_named(name).describe() == name);
    }
    CHECK(names.size() == std::tuple_size_v<chorus::merges>);
    CHECK(merge_named("take_arrived") == any_merge{});
}

TEST_CASE("a merge is described as it is named") {
    for (std::string_view const text :
         {"take_arrived", "keep_progress", "stale_gradient", "elastic(rate=0.25)", "half_way(share=0.75)", "outer_step", "outer_step(outer_sgd)",
          "outer_step(outer_nesterov(rate=0.5, momentum=0.8))", "outer_step(outer_momentum(rate=0.1), sends_change=true)",
          "outer_step(outer_adam(rate=0.1, first=0.5, second=0.75, epsilon=0.01))", "outer_step(sends_change=true)"}) {
        CHECK(merge_named(text).describe() == text);
        CHECK(merge_named(merge_named(text).describe()) == merge_named(text));
    }
    CHECK(merge_named(" outer_step ( outer_nesterov ( rate = 0.7 ) ) ").describe() == "outer_step");
    CHECK(merge_named("outer_step(sends_change=true, outer_sgd)").describe() == "outer_step(outer_sgd, sends_change=true)");
    CHECK(!(merge_named("elastic") == merge_named("elastic(rate=0.5)")));
}

TEST_CASE("a merge by name is the one by type") {
    auto const agrees = [](std::string_view text, auto const& typed) {
        return merge_named(text).visit([&](auto const& named) {
            return std::is_same_v<std::remove_cvref_t<decltype(named)>, std::remove_cvref_t<decltype(typed)>> && merged_twice(named) == merged_twice(typed);
        });
    };
    CHECK(agrees("take_arrived", chorus::take_arrived{}));
    CHECK(agrees("keep_progress", chorus::keep_progress{}));
    CHECK(agrees("stale_gradient", chorus::stale_gradient{}));
    CHECK(agrees("elastic(rate=0.5)", chorus::elastic{0.5}));
    CHECK(agrees("half_way(share=0.25)", chorus::half_way{0.25}));
    CHECK(agrees("outer_step", chorus::outer_step{chorus::outer_nesterov{}}));
    CHECK(agrees("outer_step(outer_sgd(rate=0.25))", chorus::outer_step{chorus::outer_sgd{0.25}}));
    CHECK(agrees("outer_step(outer_momentum(momentum=0.5))", chorus::outer_step{chorus::outer_momentum{0.7, 0.5}}));
    CHECK(agrees("outer_step(outer_adam(rate=0.25), sends_change=true)", chorus::outer_step{chorus::outer_adam{.rate = 0.25}, true}));
    CHECK(!agrees("half_way(share=0.25)", chorus::half_way{0.5}));
}

TEST_CASE("what cannot be named is refused, and says what can") {
    CHECK(refusal("nesterov", {"there is no merge \"nesterov\"; there are elastic, half_way, keep_progress, outer_step, stale_gradient, take_arrived"}) == "");
    CHECK(refusal("elastic(share=0.5)", {"elastic has no parameter share; it has rate"}) == "");
    CHECK(refusal("take_arrived(rate=1)", {"take_arrived has no parameter rate; it has none"}) == "");
    CHECK(refusal("half_way(0.5)", {"half_way: 0.5 is not of the form"}) == "");
    CHECK(refusal("half_way(share=half)", {"share=half: a number is needed"}) == "");
    CHECK(refusal("outer_step(nesterov)", {"there is no outer optimiser \"nesterov\"; there are outer_adam, outer_momentum, outer_nesterov, outer_sgd"}) == "");
    CHECK(refusal("outer_step(outer_sgd(momentum=1))", {"outer_sgd has no parameter momentum; it has rate"}) == "");
    CHECK(refusal("outer_step(outer_sgd, outer_adam)", {"outer_step has one optimiser"}) == "");
    CHECK(refusal("outer_step(rate=1)", {"outer_step has no parameter rate; it has sends_change"}) == "");
    CHECK(refusal("outer_step(sends_change=yes)", {"sends_change=yes: true or false is needed"}) == "");
}
