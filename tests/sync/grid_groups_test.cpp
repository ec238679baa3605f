// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/grid_groups.hpp"

#include "chorus/sync/pairs_hypercube.hpp"
#include "suites/expected_error.hpp"
#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

#include <tuple>
#include <vector>

using chorus::grid_groups;
using chorus::rank_id;
using chorus::step_id;

namespace {

using widths = std::vector<rank_id>;

/// Whether p is 1 or a product of numbers up to `most`.
bool is_product(rank_id p, rank_id most) {
    for (rank_id factor = 2; factor <= most; ++factor)
        while (p % factor == 0) p /= factor;
    return p == 1;
}

}  // namespace

TEST_CASE("grid_groups: all laws of a policy, the exact mean where the ranks fill the grid") {
    auto const fills_square = [](rank_id p) { return p != 3 && !(p > 4 && !is_product(p, p - 1)); };
    suites::policy_suite(grid_groups{}, {.is_exact = fills_square});
    suites::policy_suite(grid_groups{.width = 2}, {.is_exact = [](rank_id p) { return is_product(p, 2); }});
    suites::policy_suite(grid_groups{.width = 3}, {.is_exact = [](rank_id p) { return is_product(p, 3); }});
    suites::policy_suite(grid_groups{.width = 4}, {.is_exact = [](rank_id p) { return is_product(p, 4); }});
    suites::policy_suite(grid_groups{.width = 100}, {.is_exact = [](rank_id) { return true; }});
    suites::policy_suite(grid_groups{.widths = {3, 2, 3}}, {.is_exact = [](rank_id p) { return p == 1; }});
}

TEST_CASE("grid_groups: g^k and other products are exact after k steps and not before") {
    for (auto const& [policy, size, steps] : {std::tuple{grid_groups{.width = 2}, 4u, 2u}, {grid_groups{.width = 4}, 16u, 2u},
                                              {grid_groups{.width = 2}, 16u, 4u}, {grid_groups{.width = 3}, 27u, 3u},
                                              {grid_groups{.width = 6}, 24u, 2u}, {grid_groups{.widths = {2, 8}}, 16u, 2u}}) {
        CHECK(policy.period(size) == steps);
        CHECK(chorus::contraction(policy, size) < 1e-7);
        CHECK(chorus::contraction(policy, size, steps - 1) > 0.999);
    }
}

TEST_CASE("grid_groups: the widths that are chosen") {
    CHECK(grid_groups{}.widths_for(12) == widths{4, 3});
    CHECK(grid_groups{}.widths_for(7) == widths{3, 3});
    CHECK(grid_groups{.width = 4}.widths_for(8) == widths{4, 2});
    CHECK(grid_groups{.width = 4}.widths_for(14) == widths{4, 4});
    CHECK(grid_groups{.width = 4}.widths_for(1) == widths{1});
}

TEST_CASE("GRP-3: grids of 5 and 7 ranks in groups of 2 and 3 lose nobody and have no larger group") {
    for (rank_id size : {5u, 7u})
        for (rank_id width : {2u, 3u})
            for (step_id step = 0; step < grid_groups{.width = width}.period(size); ++step)
                for (auto const& group : chorus::partition_of(grid_groups{.width = width}, step, size))
                    CHECK(group.members.size() <= width);
}

TEST_CASE("grid_groups of width 2 on a power of two are pairs_hypercube") {
    for (step_id step = 0; step < 8; ++step)
        for (rank_id rank = 0; rank < 16; ++rank)
            CHECK(grid_groups{.width = 2}.at(step, rank, 16) == chorus::pairs_hypercube{}.at(step, rank, 16));
}

TEST_CASE("grid_groups: widths that cannot be") {
    using suites::unlike;
    auto const bad = chorus::errc::invalid_argument;
    CHECK(unlike(bad, {"groups of 1 rank"}, [] { grid_groups{.width = 1}.at(0, 0, 4); }) == "");
    CHECK(unlike(bad, {"multiply to 6", "7 ranks"}, [] { grid_groups{.widths = {2, 3}}.at(0, 0, 7); }) == "");
    CHECK(unlike(bad, {"a width is 0"}, [] { grid_groups{.widths = {0, 3}}.period(2); }) == "");
}
