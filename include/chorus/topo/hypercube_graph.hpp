// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/graph.hpp"

#include <string_view>
#include <utility>
#include <vector>

namespace chorus::topo {

/// Each rank with those whose numbers differ from its own in one bit, as far as there are such ranks.
///
/// degree at most ⌈log2 p⌉, log2 p of all ranks if p is a power of two, at least 1 for other p | period 1 | edges go both ways
/// contraction (d - 1) / (d + 1), p = 2^d | connected for every p: without its highest bit a rank's number is another rank's
/// H. P. Katseff, "Incomplete hypercubes" (1988)
struct hypercube_graph {
    static constexpr std::string_view name = "hypercube_graph";

    neighbours at(step_id, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        std::vector<rank_id> ranks;
        for (rank_id bit = 1; bit != 0 && bit < size; bit <<= 1)
            if ((rank ^ bit) < size) ranks.push_back(rank ^ bit);
        return detail::both_ways(std::move(ranks), rank);
    }
    step_id period(rank_id) const { return 1; }

    friend bool operator==(hypercube_graph const&, hypercube_graph const&) = default;
};
static_assert(graph<hypercube_graph>);

}  // namespace chorus::topo
