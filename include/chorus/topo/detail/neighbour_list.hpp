// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/graph.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::topo::detail {

/// Throws `invalid_argument` for a rank that does not exist.
inline void expect_rank(std::string_view graph, rank_id rank, rank_id size) {
    expects(rank < size, [&] {
        return std::string{graph} + ": rank " + std::to_string(rank) + " is not below " + std::to_string(size);
    });
}

/// Ascending, each once, without `self`.
inline std::vector<rank_id> neighbour_list(std::vector<rank_id> ranks, rank_id self) {
    std::sort(ranks.begin(), ranks.end());
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    ranks.erase(std::remove(ranks.begin(), ranks.end(), self), ranks.end());
    return ranks;
}

/// Neighbours along edges that go both ways.
inline neighbours both_ways(std::vector<rank_id> ranks, rank_id self) {
    std::vector<rank_id> list = neighbour_list(std::move(ranks), self);
    return {list, list};
}

}  // namespace chorus::topo::detail
