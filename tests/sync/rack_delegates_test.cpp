// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/rack_delegates.hpp"

#include "chorus/topo/layout.hpp"
#include "suites/expected_error.hpp"
#include "suites/policy_suite.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <initializer_list>
#include <vector>

using chorus::membership;
using chorus::rack_delegates;
using chorus::rank_id;
using chorus::topo::layout;

TEST_CASE("rack_delegates: all laws of a policy") {
    for (rank_id width : {1u, 3u, 4u, 5u})
        suites::policy_suite(rack_delegates{.width = width}, {.is_exact = [](rank_id p) { return p == 1; }});
    suites::policy_suite(rack_delegates{.width = 2}, {.serves = [](rank_id p) { return p % 2 == 1 || p == 2; }});
}

TEST_CASE("HET-1: uneven racks in any order keep the laws, each rank is its rack's delegate in turn") {
    for (std::vector<rank_id> const& racks :
         {std::vector<rank_id>{0, 1, 1}, {0, 0, 1, 1, 1}, {0, 0, 0, 1, 1, 1, 1}, {0, 1, 2, 2, 2}, {2, 0, 1, 1, 0, 2, 1}}) {
        rack_delegates const policy{.places = layout{racks}};
        auto const size = static_cast<rank_id>(racks.size());
        std::vector<int> delegated(size);
        for (chorus::step_id step = 0; step < policy.period(size); ++step) {
            suites::check_step(policy, step, size);
            int between = 0;
            for (membership const& group : chorus::partition_of(policy, step, size)) {
                bool const is_inside = policy.places->host_of(group.members.front()) == policy.places->host_of(group.members.back()) &&
                                       group.members.size() != policy.places->hosts();
                if (group.members.size() != policy.places->hosts() || is_inside) continue;
                std::vector<bool> seen(policy.places->hosts());
                for (rank_id const member : group.members) seen[policy.places->host_of(member)] = true;
                if (seen != std::vector<bool>(seen.size(), true)) continue;
                ++between;
                for (rank_id const member : group.members) ++delegated[member];
            }
            CHECK(between == 1);
        }
        for (int const times : delegated) CHECK(times >= 1);
        chorus::expect_mixing(policy, size);
    }
}

TEST_CASE("rack_delegates: two and four racks of four contract by 8/27 in a period of four") {
    for (rank_id racks : {2u, 4u}) {
        auto const speed = chorus::mixing_speed_of(rack_delegates{.width = 4}, 4 * racks);
        CHECK(speed.steps == 4);
        CHECK(speed.contraction == doctest::Approx(8.0 / 27).epsilon(1e-6));
        CHECK(speed.per_step() == doctest::Approx(0.738).epsilon(1e-3));
    }
}

TEST_CASE("rack_delegates: who meets whom; racks of two never mix, and are refused by name") {
    CHECK(rack_delegates{.width = 4}.at(1, 5, 8) == membership{{1, 5}, {}});
    CHECK(rack_delegates{.width = 4}.at(1, 6, 8) == membership{{4, 6, 7}, {}});
    CHECK(rack_delegates{.width = 4}.at(1, 2, 4) == membership{{0, 1, 2, 3}, {}});
    using suites::unlike;
    auto const bad = chorus::errc::invalid_argument;
    CHECK(unlike(bad, {"rack_delegates of 4 ranks", "ranks 0, 2 never average with ranks 1, 3"},
                 [] { chorus::expect_mixing(rack_delegates{.width = 2}, 4); }) == "");
    CHECK(unlike(bad, {"a layout of 3 ranks for 4"}, [] { rack_delegates{.places = layout{0, 0, 1}}.at(0, 0, 4); }) == "");
    CHECK(unlike(bad, {"width"}, [] { rack_delegates{.width = 0}.period(4); }) == "");
}
