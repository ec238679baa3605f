// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/detail/rectangle.hpp"
#include "chorus/topo/graph.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace chorus::topo {

/// Ranks in rows and columns, each with those above, below, left and right of it: a line, if there is one row.
///
/// `rows` 0: as many as the largest divisor of p up to √p, so that a prime p makes a line. Other numbers must divide p, or
/// every rank throws `invalid_argument`.
/// degree 2 to 4, at the ends of a line 1 | period 1 | edges go both ways
struct grid_graph {
    static constexpr std::string_view name = "grid_graph";
    rank_id rows = 0;

    neighbours at(step_id, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        auto const [high, wide] = detail::rectangle::of(name, rows, size);
        rank_id const row = rank / wide;
        rank_id const column = rank % wide;
        std::vector<rank_id> ranks;
        if (row > 0) ranks.push_back(rank - wide);
        if (row + 1 < high) ranks.push_back(rank + wide);
        if (column > 0) ranks.push_back(rank - 1);
        if (column + 1 < wide) ranks.push_back(rank + 1);
        return detail::both_ways(std::move(ranks), rank);
    }
    step_id period(rank_id) const { return 1; }

    friend bool operator==(grid_graph const&, grid_graph const&) = default;
};
static_assert(graph<grid_graph>);

}  // namespace chorus::topo
