// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/detail/shuffled.hpp"
#include "chorus/topo/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::topo {

/// Several rings laid through all ranks, each in an order of its own, drawn from a seed that all share.
///
/// degree 2 `cycles`, fewer where rings share an edge | period 1 | edges go both ways | O(p cycles) time for each call
/// Connected for every seed, since one ring is, and defined for every p, unlike constructions from squares or primes; with
/// two rings and more the gap stays above a constant, however many ranks there are, for nearly all seeds.
/// J. Friedman, "A proof of Alon's second eigenvalue conjecture and related problems" (2008)
struct expander {
    static constexpr std::string_view name = "expander";
    rank_id cycles = 2;
    std::uint64_t seed = 0;

    neighbours at(step_id, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        detail::expects(cycles > 0, [] { return "expander: at least one cycle is needed"; });
        std::vector<rank_id> ranks;
        for (rank_id cycle = 0; cycle < cycles; ++cycle) {
            auto const order = detail::shuffled(size, counter_random{seed, cycle});
            auto const place = static_cast<std::size_t>(std::find(order.begin(), order.end(), rank) - order.begin());
            ranks.push_back(order[(place + 1) % size]);
            ranks.push_back(order[(place + size - 1) % size]);
        }
        return detail::both_ways(std::move(ranks), rank);
    }
    step_id period(rank_id) const { return 1; }

    friend bool operator==(expander const&, expander const&) = default;
};
static_assert(graph<expander>);

}  // namespace chorus::topo
