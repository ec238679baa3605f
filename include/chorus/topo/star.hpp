// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/graph.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::topo {

/// One rank talks to all others, which talk to it alone. Throws `invalid_argument` unless there is such a rank.
///
/// degree p - 1 of the centre, 1 of the others | period 1 | contraction 1 - 1/p by `metropolis` from p = 3 on
struct star {
    static constexpr std::string_view name = "star";
    rank_id centre = 0;

    neighbours at(step_id, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        detail::expects(centre < size, [&] {
            return "star: the centre, rank " + std::to_string(centre) + ", is not below " + std::to_string(size);
        });
        if (rank != centre) return {{centre}, {centre}};
        std::vector<rank_id> others;
        for (rank_id other = 0; other < size; ++other) others.push_back(other);
        return detail::both_ways(std::move(others), rank);
    }
    step_id period(rank_id) const { return 1; }

    friend bool operator==(star const&, star const&) = default;
};
static_assert(graph<star>);

}  // namespace chorus::topo
