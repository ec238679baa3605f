// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/graph.hpp"

#include <string_view>

namespace chorus::topo {

/// The next rank and the one before; one way if `is_directed`: to the next, from the one before.
///
/// degree 2, directed 1 | period 1 | all ranks have one degree
/// contraction |cos(π/p)| directed; the largest |1 + 2 cos(2πk/p)| / 3, 0 < k < p, both ways from p = 3 on
struct ring_graph {
    static constexpr std::string_view name = "ring_graph";
    bool is_directed = false;

    neighbours at(step_id, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        rank_id const next = (rank + 1) % size;
        rank_id const before = (rank + size - 1) % size;
        if (!is_directed) return detail::both_ways({next, before}, rank);
        return {detail::neighbour_list({next}, rank), detail::neighbour_list({before}, rank)};
    }
    step_id period(rank_id) const { return 1; }

    friend bool operator==(ring_graph const&, ring_graph const&) = default;
};
static_assert(graph<ring_graph>);

}  // namespace chorus::topo
