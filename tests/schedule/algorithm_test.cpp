// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/algorithm.hpp"

#include "archetypes/least_algorithm.hpp"
#include "chorus/schedule/detail/offered.hpp"
#include "chorus/schedule/prove.hpp"

#include <doctest/doctest.h>

#include <iterator>
#include <set>
#include <string_view>

using namespace chorus;

namespace samples {

/// Barrier only; everybody tells everybody.
struct least_barrier {
    static constexpr std::string_view name = "least_barrier";
    schedule barrier(rank_id me, rank_id size) const {
        schedule s{1};
        s.round();
        for (rank_id p = 0; p < size; ++p)
            if (p != me) s.send(p, {0, 1}).recv(p, {0, 1});
        return s;
    }
    cost barrier_cost(rank_id size) const { return {.rounds = size > 1 ? 1.0 : 0.0}; }
    friend bool operator==(least_barrier, least_barrier) = default;
};
static_assert(barrier_algorithm<least_barrier> && named_algorithm<least_barrier>);
static_assert(!reducing_algorithm<least_barrier> && !all_reduce_algorithm<least_barrier>);

// Each of these lacks one thing.
struct nameless {
    static constexpr bool keeps_order = true;
    schedule all_reduce(rank_id, rank_id) const;
    cost all_reduce_cost(rank_id, double) const;
    friend bool operator==(nameless, nameless) = default;
};
struct orderless {
    static constexpr std::string_view name = "orderless";
    schedule all_reduce(rank_id, rank_id) const;
    cost all_reduce_cost(rank_id, double) const;
    friend bool operator==(orderless, orderless) = default;
};
struct costless {
    static constexpr std::string_view name = "costless";
    static constexpr bool keeps_order = true;
    schedule all_reduce(rank_id, rank_id) const;
    friend bool operator==(costless, costless) = default;
};
struct incomparable {
    static constexpr std::string_view name = "incomparable";
    static constexpr bool keeps_order = true;
    schedule all_reduce(rank_id, rank_id) const;
    cost all_reduce_cost(rank_id, double) const;
};
static_assert(!all_reduce_algorithm<nameless> && !all_reduce_algorithm<orderless> && !all_reduce_algorithm<costless> &&
              !all_reduce_algorithm<incomparable>);
static_assert(all_reduce_algorithm<archetypes::least_algorithm>);

}  // namespace samples

using samples::least_barrier;

TEST_CASE("every collective has a name of its own") {
    std::set<std::string_view> names;
    for (collective operation : all_collectives) names.insert(to_string(operation));
    CHECK(names.size() == std::size(all_collectives));
    CHECK(to_string(collective::all_reduce) == "all_reduce");
    CHECK(to_string(collective::barrier) == "barrier");
    CHECK(to_string(collective::exclusive_scan) == "exclusive_scan");
}

TEST_CASE("what the collectives have") {
    for (collective operation : all_collectives) {
        std::string_view const name = to_string(operation);
        CHECK(has_root(operation) ==
              (name == "broadcast" || name == "reduce" || name == "gather" || name == "scatter"));
        CHECK(has_reduction(operation) == (name.find("reduce") != name.npos || name.find("scan") != name.npos));
        bool const is_cut =
            name.find("gather") != name.npos || name.find("scatter") != name.npos || name == "all_to_all";
        CHECK(has_block_per_rank(operation) == is_cut);
    }
}

TEST_CASE("offers tells the concepts by value") {
    for (collective operation : all_collectives) {
        CHECK(detail::offers<archetypes::least_algorithm>(operation) == (operation == collective::all_reduce));
        CHECK(detail::offers<least_barrier>(operation) == (operation == collective::barrier));
    }
    CHECK(detail::keeps_order_of<archetypes::least_algorithm>());
    CHECK_FALSE(detail::keeps_order_of<least_barrier>());
    CHECK_THROWS_AS(detail::make_offered(least_barrier{}, collective::scan, 0, 2, 0), error);
    CHECK_THROWS_AS(detail::cost_offered(least_barrier{}, collective::scan, 2, 0), error);
}

TEST_CASE("the least algorithms are right, as their costs are") {
    auto const least = archetypes::least_algorithm::make();
    for (rank_id size = 1; size <= 17; ++size) {
        auto const ranks = schedules_of(size, [&](rank_id me) { return least.all_reduce(me, size); });
        proof const found = prove(ranks, {.operation = collective::all_reduce, .keeps_order = true});
        CHECK_MESSAGE(found.holds, found.why);
        CHECK(counted(ranks, 640) == least.all_reduce_cost(size, 640));
        auto const told = schedules_of(size, [&](rank_id me) { return least_barrier{}.barrier(me, size); });
        proof const everybody = prove(told, {.operation = collective::barrier});
        CHECK_MESSAGE(everybody.holds, everybody.why);
        CHECK(counted(told, 0) == least_barrier{}.barrier_cost(size));
    }
}
