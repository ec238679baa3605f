// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/collective_kind.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string_view>

using namespace chorus;

TEST_CASE("every collective is listed once, in order, under a name of its own") {
    std::set<std::string_view> names;
    int at = 0;
    for (collective each : all_collectives) {
        CHECK(static_cast<int>(each) == at++);
        CHECK(names.insert(to_string(each)).second);
        CHECK_FALSE(to_string(each).empty());
    }
    CHECK(all_collectives[at - 1] == collective::barrier);
}

TEST_CASE("which collectives have a root, a reduction, a block per rank") {
    int roots = 0;
    int reductions = 0;
    int blocks = 0;
    for (collective each : all_collectives) {
        roots += has_root(each);
        reductions += has_reduction(each);
        blocks += has_block_per_rank(each);
    }
    CHECK(roots == 4);
    CHECK(reductions == 5);
    CHECK(blocks == 5);
    CHECK((has_root(collective::reduce) && has_reduction(collective::reduce) && !has_block_per_rank(collective::reduce)));
    CHECK((has_block_per_rank(collective::all_to_all) && !has_root(collective::all_to_all) && !has_reduction(collective::all_to_all)));
    CHECK_FALSE((has_root(collective::barrier) || has_reduction(collective::barrier) || has_block_per_rank(collective::barrier)));
}
