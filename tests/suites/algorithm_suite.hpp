// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/detail/offered.hpp"
#include "chorus/schedule/prove.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace suites {

// What every algorithm owes, for every collective that it offers; instantiated in one line:
//
//     TEST_CASE("ring: all laws of an algorithm") { suites::algorithm_suite(chorus::ring{}); }

/// Sizes 1 … 64, 100 and 127.
inline std::vector<chorus::rank_id> all_sizes() {
    std::vector<chorus::rank_id> sizes(64);
    std::iota(sizes.begin(), sizes.end(), chorus::rank_id{1});
    sizes.push_back(100);
    sizes.push_back(127);
    return sizes;
}

/// All roots up to 8 ranks, then the ends and the middle; root 0 only for collectives without one.
inline std::vector<chorus::rank_id> roots_of(chorus::collective operation, chorus::rank_id size) {
    if (!chorus::has_root(operation)) return {0};
    std::vector<chorus::rank_id> roots(size);
    std::iota(roots.begin(), roots.end(), chorus::rank_id{0});
    if (size > 8) roots = {0, 1, size / 2, size - 1};
    return roots;
}

inline void check_cost(chorus::cost const& found, chorus::cost const& said) {
    auto near = [](double x) { return doctest::Approx(x).epsilon(1e-9); };
    CHECK(found.rounds == said.rounds);
    CHECK(found.bytes_sent == near(said.bytes_sent));
    CHECK(found.bytes_reduced == near(said.bytes_reduced));
    CHECK(found.scratch_bytes == near(said.scratch_bytes));
}

/// Proof, purity and cost at one size. The cost function must tell the most that any root costs.
template <class Algorithm>
void check_algorithm_at(Algorithm const& algorithm, chorus::collective operation, chorus::rank_id size) {
    chorus::cost most;
    double bytes = 0;
    for (chorus::rank_id root : roots_of(operation, size)) {
        INFO(std::string{Algorithm::name}, " ", std::string{to_string(operation)}, " p=", size, " root=", root);
        auto make = [&](chorus::rank_id me) {
            return chorus::detail::make_offered(algorithm, operation, me, size, root);
        };
        auto const ranks = chorus::schedules_of(size, make);
        chorus::proof const found = chorus::prove(ranks, {.operation = operation,
                                                          .root = root,
                                                          .keeps_order = chorus::detail::keeps_order_of<Algorithm>(),
                                                          .uneven = chorus::detail::takes_uneven_of<Algorithm>()});
        CHECK_MESSAGE(found.holds, found.why);
        bool const is_pure = ranks.front() == make(0) && ranks.back() == make(size - 1);
        CHECK(is_pure);
        bytes = 64.0 * static_cast<double>(std::lcm(std::uint64_t{ranks.front().blocks()}, std::uint64_t{size}));
        chorus::cost const one = chorus::counted(ranks, operation == chorus::collective::barrier ? 0 : bytes);
        most = {(std::max)(most.rounds, one.rounds), (std::max)(most.bytes_sent, one.bytes_sent),
                (std::max)(most.bytes_reduced, one.bytes_reduced), (std::max)(most.scratch_bytes, one.scratch_bytes)};
    }
    INFO(std::string{Algorithm::name}, " ", std::string{to_string(operation)}, " p=", size);
    check_cost(most, chorus::detail::cost_offered(algorithm, operation, size, bytes));
}

/// A world of 4096 ranks: the schedules of some ranks are built, and no block or peer number overflows.
template <class Algorithm>
void check_huge_world(Algorithm const& algorithm, chorus::collective operation) {
    constexpr chorus::rank_id size = 4096;
    for (chorus::rank_id me : {chorus::rank_id{0}, chorus::rank_id{1}, chorus::rank_id{2731}, size - 1}) {
        INFO(std::string{Algorithm::name}, " ", std::string{to_string(operation)}, " p=4096 rank=", me);
        chorus::schedule const plan = chorus::detail::make_offered(algorithm, operation, me, size, 5);
        bool inside = true;
        for (chorus::step const& s : plan.steps()) {
            if (!is_local(s.kind)) inside = inside && s.peer < size && s.peer != me;
            auto const limit = s.local.where == chorus::space::scratch ? plan.slots().size() : plan.blocks();
            inside = inside && std::size_t{s.local.first} + s.local.count <= limit;
        }
        CHECK(inside);
        CHECK(plan.rounds() <= 3 * size + 64);
        CHECK(chorus::detail::cost_offered(algorithm, operation, size, 4096.0 * 8589934592.0).rounds >= 1);
    }
}

template <class Algorithm>
void algorithm_suite(Algorithm const& algorithm) {
    bool offers_any = false;
    for (chorus::collective operation : chorus::all_collectives) {
        if (!chorus::detail::offers<Algorithm>(operation)) continue;
        offers_any = true;
        for (chorus::rank_id size : all_sizes()) check_algorithm_at(algorithm, operation, size);
        check_huge_world(algorithm, operation);
    }
    CHECK(offers_any);
}

}  // namespace suites
