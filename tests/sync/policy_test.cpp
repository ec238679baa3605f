// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/policy.hpp"

#include <doctest/doctest.h>

#include <string_view>

using chorus::membership;
using chorus::rank_id;
using chorus::step_id;
using chorus::sync_policy;

namespace {

/// All that is asked for and no more.
struct least {
    static constexpr std::string_view name = "least";
    membership at(step_id, rank_id rank, rank_id) const { return {.members = {rank}, .weights = {}}; }
    step_id period(rank_id) const { return 1; }
};

struct without_name {
    membership at(step_id, rank_id rank, rank_id) const { return {.members = {rank}, .weights = {}}; }
    step_id period(rank_id) const { return 1; }
};

struct that_changes : least {
    membership at(step_id, rank_id rank, rank_id) { return {.members = {rank}, .weights = {}}; }  // not const: not pure
};

struct without_period {
    static constexpr std::string_view name = "without_period";
    membership at(step_id, rank_id rank, rank_id) const { return {.members = {rank}, .weights = {}}; }
};

struct that_cannot_be_copied : least {
    that_cannot_be_copied() = default;
    that_cannot_be_copied(that_cannot_be_copied const&) = delete;
    that_cannot_be_copied& operator=(that_cannot_be_copied const&) = delete;
};

static_assert(sync_policy<least>);
static_assert(!sync_policy<without_name>);
static_assert(!sync_policy<that_changes>);
static_assert(!sync_policy<without_period>);
static_assert(!sync_policy<that_cannot_be_copied>);

}  // namespace

TEST_CASE("membership: equal if members and weights are") {
    membership const pair{.members = {1, 4}, .weights = {}};
    CHECK(pair == membership{.members = {1, 4}, .weights = {}});
    CHECK(pair != membership{.members = {1, 3}, .weights = {}});
    CHECK(pair != membership{.members = {1, 4}, .weights = {0.25, 0.75}});
}
