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

/// Everybody talks to everybody: the exact mean in one step, what others are compared with.
///
/// degree p - 1 | period 1 | all ranks have one degree | contraction 0
struct full {
    static constexpr std::string_view name = "full";

    neighbours at(step_id, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        std::vector<rank_id> others;
        for (rank_id other = 0; other < size; ++other) others.push_back(other);
        return detail::both_ways(std::move(others), rank);
    }
    step_id period(rank_id) const { return 1; }

    friend bool operator==(full const&, full const&) = default;
};
static_assert(graph<full>);

}  // namespace chorus::topo
