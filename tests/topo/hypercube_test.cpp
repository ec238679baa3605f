// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/hypercube.hpp"

#include <doctest/doctest.h>

using chorus::rank_id;
using chorus::topo::folded_hypercube;

TEST_CASE("corners are the largest power of two that the ranks fill") {
    for (rank_id size = 1; size <= 4100; ++size) {
        folded_hypercube const cube{size};
        CHECK(cube.corners() <= size);
        CHECK(cube.corners() > size / 2);
        CHECK((cube.corners() & (cube.corners() - 1)) == 0);
        CHECK(cube.corners() == rank_id{1} << cube.dimensions());
    }
    CHECK(folded_hypercube{0xFFFFFFFFu}.corners() == 0x80000000u);
}

TEST_CASE("corners hold runs of one or two neighbouring ranks, in rank order, and cover all") {
    for (rank_id size = 1; size <= 70; ++size) {
        folded_hypercube const cube{size};
        CHECK(cube.first_rank(0) == 0);
        CHECK(cube.first_rank(cube.corners()) == size);
        rank_id acting = 0;
        for (rank_id rank = 0; rank < size; ++rank) {
            rank_id const corner = cube.corner_of(rank);
            CHECK(cube.first_rank(corner) <= rank);
            CHECK(rank < cube.first_rank(corner + 1));
            rank_id const ranks = cube.first_rank(corner + 1) - cube.first_rank(corner);
            CHECK(ranks == (cube.is_paired(rank) ? 2 : 1));
            if (cube.is_paired(rank)) CHECK(cube.corner_of(rank ^ 1) == corner);
            acting += cube.is_first(rank) ? 1u : 0u;
        }
        CHECK(acting == cube.corners());
    }
}

TEST_CASE("reading bits backwards twice changes nothing, and turns the lowest bit into the highest") {
    for (rank_id dimensions = 0; dimensions <= 8; ++dimensions) {
        folded_hypercube const cube{rank_id{1} << dimensions};
        for (rank_id corner = 0; corner < cube.corners(); ++corner) {
            rank_id const mirror = cube.reversed(corner);
            CHECK(mirror < cube.corners());
            CHECK(cube.reversed(mirror) == corner);
            if (dimensions > 0) CHECK((corner & 1) == (mirror >> (dimensions - 1)));
        }
    }
}
