// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/detail/rectangle.hpp"
#include "chorus/topo/graph.hpp"

#include <string_view>

namespace chorus::topo {

/// Ranks in rows and columns that are closed to rings, each with those above, below, left and right of it.
///
/// `rows` 0: as many as the largest divisor of p up to √p, so that a prime p makes a ring. Other numbers must divide p, or
/// every rank throws `invalid_argument`.
/// degree 4, fewer where a row or column has less than three ranks | period 1 | all ranks have one degree
/// contraction, at least three rows and columns: the largest |1 + 2 cos(2πj/rows) + 2 cos(2πk/columns)| / 5, (j, k) ≠ (0, 0)
struct torus {
    static constexpr std::string_view name = "torus";
    rank_id rows = 0;

    neighbours at(step_id, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        auto const [high, wide] = detail::rectangle::of(name, rows, size);
        rank_id const row = rank / wide;
        rank_id const column = rank % wide;
        rank_id const first = row * wide;
        return detail::both_ways({(row + 1) % high * wide + column, (row + high - 1) % high * wide + column,
                                  first + (column + 1) % wide, first + (column + wide - 1) % wide},
                                 rank);
    }
    step_id period(rank_id) const { return 1; }

    friend bool operator==(torus const&, torus const&) = default;
};
static_assert(graph<torus>);

}  // namespace chorus::topo
