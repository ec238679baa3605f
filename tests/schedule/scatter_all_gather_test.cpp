// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/scatter_all_gather.hpp"

#include "suites/algorithm_suite.hpp"
#include "suites/plan_arithmetic.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace chorus;

static_assert(scatter_all_gather{}.broadcast(0, 5, 2).rounds() == 7);
static_assert(scatter_all_gather{}.reduce(0, 5, 2).rounds() == 7);

namespace {

void check_broadcast(std::uint64_t count, rank_id size, rank_id root, rank_id me) {
    blocks const cut = blocks::near_equal(count, size);
    schedule const s = scatter_all_gather{}.broadcast(me, size, root);
    testing::traffic const sum = testing::moved(s, cut);
    if (me == root) REQUIRE(sum.received == 0);
    REQUIRE(sum.sent <= 2 * count);
    std::vector<bool> arrived(size, false);
    for (step const& next : s.steps())
        for (rank_id b = next.local.first; next.kind == step_kind::recv && b < next.local.end(); ++b) arrived[b] = true;
    for (rank_id b = 0; b < size; ++b) REQUIRE(arrived[b] == (me != root));
}

}  // namespace

TEST_CASE("WSZ-1, HUG-2: scatter_all_gather: all laws of an algorithm") {
    suites::algorithm_suite(scatter_all_gather{});
}

TEST_CASE("WSZ-2: fewer elements than ranks, or a remainder: no length below zero, every block arrives") {
    struct { std::uint64_t count; rank_id size; } const rows[] = {{10, 8}, {5, 8}, {9, 4}, {0, 5}, {1, 7}};
    for (auto const& row : rows)
        for (rank_id root = 0; root < row.size; ++root)
            for (rank_id me = 0; me < row.size; ++me) check_broadcast(row.count, row.size, root, me);
}

TEST_CASE("CNT-4: broadcast and reduce plans of 2^31 + 3 bytes") {
    std::uint64_t const count = (std::uint64_t{1} << 31) + 3;
    for (rank_id size : {3u, 5u})
        for (rank_id root = 0; root < size; ++root)
            for (rank_id me = 0; me < size; ++me) {
                check_broadcast(count, size, root, me);
                blocks const cut = blocks::near_equal(count, size);
                testing::traffic const sum = testing::moved(scatter_all_gather{}.reduce(me, size, root), cut);
                CHECK(sum.received >= count - cut.length((me + size - 1) % size));
                CHECK(sum.received <= 2 * count);
            }
}

TEST_CASE("HUG-2: 4096 ranks, 100 and 2^33 elements") {
    for (std::uint64_t count : {std::uint64_t{100}, std::uint64_t{1} << 33})
        for (rank_id me : {0u, 1u, 2047u, 4095u}) check_broadcast(count, 4096, 1, me);
    CHECK(scatter_all_gather{}.broadcast(9, 4096, 3).rounds() == 12 + 4095);
}
