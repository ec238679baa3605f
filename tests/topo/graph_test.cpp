// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/graph.hpp"

#include "suites/expected_error.hpp"

#include <algorithm>

#include <doctest/doctest.h>

using namespace chorus;
using topo::neighbours;

namespace {

/// A ring, in which one rank's lists may be replaced.
struct odd_ring {
    static constexpr std::string_view name = "odd_ring";
    rank_id odd = nobody;
    neighbours instead = {};

    neighbours at(step_id, rank_id rank, rank_id size) const {
        return rank == odd ? instead : neighbours{{(rank + 1) % size}, {(rank + size - 1) % size}};
    }
    step_id period(rank_id) const { return 1; }
};
static_assert(topo::graph<odd_ring>);

std::string refusal(odd_ring const& g, std::initializer_list<std::string_view> words) {
    return suites::unlike(errc::invalid_argument, words, [&] { topo::expect_mirrored(g, 7, 4); });
}

}  // namespace

TEST_CASE("GOS-2: lists that fit pass, and whoever does not answer is named") {
    for (rank_id size = 2; size <= 17; ++size) CHECK_NOTHROW(topo::expect_mirrored(odd_ring{}, 0, size));
    CHECK(refusal({1, {{3}, {0}}}, {"odd_ring, rank 1 of 4 at step 7", "sends to rank 3", "does not hear from it"}) == "");
    CHECK(refusal({1, {{2}, {3}}}, {"rank 0 of 4 at step 7", "sends to rank 1", "does not hear from it"}) == "");
    CHECK(refusal({1, {{2}, {0, 3}}}, {"rank 1 of 4 at step 7", "hears from rank 3", "does not send to it"}) == "");
}

TEST_CASE("GOS-10: a rank that does not exist, the rank itself and one named twice are refused") {
    CHECK(refusal({1, {{9}, {0}}}, {"rank 1 of 4", "names rank 9, which does not exist"}) == "");
    CHECK(refusal({1, {{2}, {1}}}, {"rank 1 of 4", "names rank 1, which is the rank itself"}) == "");
    CHECK(refusal({1, {{2, 2}, {0}}}, {"rank 1 of 4", "named twice"}) == "");
    CHECK(refusal({1, {{3, 2}, {0}}}, {"rank 1 of 4", "not ascending"}) == "");
}
