// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/any_algorithm.hpp"

#include "archetypes/least_algorithm.hpp"
#include "chorus/schedule/binomial_tree.hpp"
#include "chorus/schedule/direct.hpp"
#include "chorus/schedule/hierarchical.hpp"
#include "chorus/schedule/pairwise.hpp"
#include "chorus/schedule/ring.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

using namespace chorus;

namespace samples {

/// Has a parameter that no list knows, and so tells it itself.
struct tuned {
    static constexpr std::string_view name = "tuned";
    int knob = 3;

    std::string describe() const { return "tuned(knob=" + std::to_string(knob) + ")"; }
    friend bool operator==(tuned, tuned) = default;
};

}  // namespace samples

using samples::tuned;

namespace {

errc code_of(auto const& act) {
    try {
        act();
    } catch (error const& failure) {
        return failure.code();
    }
    return errc::system_failed;
}

}  // namespace

static_assert(std::is_copy_assignable_v<any_algorithm> && !std::is_default_constructible_v<any_algorithm>);
static_assert(!std::is_constructible_v<any_algorithm, int>);

TEST_CASE("erased, an algorithm answers as before") {
    any_algorithm const erased = binomial_tree{};
    CHECK(erased.name() == "binomial_tree");
    CHECK(erased.keeps_order());
    CHECK_FALSE(erased.takes_uneven());
    for (rank_id size = 1; size <= 17; ++size) {
        for (rank_id me = 0; me < size; ++me) {
            bool const same = erased.make(collective::all_reduce, me, size) == binomial_tree{}.all_reduce(me, size) &&
                              erased.make(collective::broadcast, me, size, size / 2) ==
                                  binomial_tree{}.broadcast(me, size, size / 2);
            CHECK(same);
        }
        CHECK(erased.cost_of(collective::all_reduce, size, 1024) == binomial_tree{}.all_reduce_cost(size, 1024));
        CHECK(erased.cost_of(collective::gather, size, 1024) == binomial_tree{}.gather_cost(size, 1024));
    }
}

TEST_CASE("every collective of an algorithm that offers them all is reached") {
    any_algorithm const erased = direct{};
    for (collective operation : all_collectives) {
        INFO(std::string{to_string(operation)});
        bool const offered = operation != collective::barrier;
        CHECK(erased.supports(operation) == offered);
        if (!offered) continue;
        CHECK(erased.make(operation, 0, 5).rounds() >= 1);
        CHECK(erased.cost_of(operation, 5, 500).rounds >= 1);
    }
    CHECK(erased.takes_uneven());
    CHECK(erased.make(collective::scan, 1, 3) == direct{}.scan(1, 3));
    CHECK(erased.make(collective::exclusive_scan, 1, 3) == direct{}.exclusive_scan(1, 3));
    CHECK(erased.make(collective::reduce_scatter, 1, 3) == direct{}.reduce_scatter(1, 3));
    CHECK(erased.make(collective::all_gather, 1, 3) == direct{}.all_gather(1, 3));
    CHECK(erased.make(collective::all_to_all, 1, 3) == direct{}.all_to_all(1, 3));
    CHECK(erased.make(collective::scatter, 1, 3, 2) == direct{}.scatter(1, 3, 2));
    CHECK(erased.make(collective::reduce, 1, 3, 2) == direct{}.reduce(1, 3, 2));
}

TEST_CASE("what is not offered is refused by name") {
    any_algorithm const erased = ring{};
    try {
        erased.make(collective::broadcast, 0, 4);
        FAIL("ring offers no broadcast");
    } catch (error const& failure) {
        CHECK(failure.code() == errc::unsupported);
        std::string const text = failure.what();
        for (char const* part : {"ring", "broadcast", "all_reduce", "reduce_scatter", "all_gather"})
            CHECK(text.find(part) != std::string::npos);
    }
    CHECK(code_of([&] { erased.cost_of(collective::barrier, 4, 0); }) == errc::unsupported);
    CHECK(code_of([&] { any_algorithm{tuned{}}.make(collective::barrier, 0, 4); }) == errc::unsupported);
}

TEST_CASE("parameters are told where they are not the defaults") {
    CHECK(any_algorithm{ring{}}.describe() == "ring");
    CHECK(any_algorithm{ring{.segments = 4}}.describe() == "ring(segments=4)");
    CHECK(any_algorithm{pairwise{.in_flight = 7}}.describe() == "pairwise(in_flight=7)");
    CHECK(any_algorithm{tuned{5}}.describe() == "tuned(knob=5)");
    CHECK(any_algorithm{tuned{5}}.name() == "tuned");
    CHECK(any_algorithm{hierarchical{direct{}, ring{.segments = 2}, 4}}.describe() ==
          "hierarchical(inside=direct, between=ring(segments=2), width=4)");
    CHECK(any_algorithm{hierarchical{direct{}, ring{}, 1, {2, 3}}}.describe() ==
          "hierarchical(inside=direct, between=ring, groups=2+3)");
}

TEST_CASE("equal if described equally, and copies are independent values") {
    any_algorithm a = ring{.segments = 4};
    any_algorithm const b = a;
    CHECK(a == b);
    CHECK(a == any_algorithm{ring{.segments = 4}});
    CHECK(a != any_algorithm{ring{}});
    CHECK(a != any_algorithm{direct{}});
    a = direct{};
    CHECK(a.name() == "direct");
    CHECK(b.describe() == "ring(segments=4)");
}

TEST_CASE("the least algorithm is erased like any other") {
    any_algorithm const erased = archetypes::least_algorithm::make();
    CHECK(erased.describe() == "least_algorithm");
    for (collective operation : all_collectives)
        CHECK(erased.supports(operation) == (operation == collective::all_reduce));
}
