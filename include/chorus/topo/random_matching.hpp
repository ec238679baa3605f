// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/detail/shuffled.hpp"
#include "chorus/topo/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace chorus::topo {

/// Pairs of ranks, drawn anew at each step from a seed that all share; all matchings are equally likely. If p is odd, rank
/// step mod p keeps what it has.
///
/// degree 1 | not periodic | edges go both ways | O(p) time and words for each call
/// on average the squared distance from the mean falls by 1/2 - 1/(2(p - 1)) at each step, p even
/// S. Boyd, A. Ghosh, B. Prabhakar, D. Shah, "Randomized gossip algorithms" (2006)
struct random_matching {
    static constexpr std::string_view name = "random_matching";
    std::uint64_t seed = 0;

    neighbours at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        rank_id const idle = size % 2 == 1 ? static_cast<rank_id>(step % size) : nobody;
        if (rank == idle) return {};
        // Who comes after the idle rank counts one less, so that the others are 0 … count - 1.
        auto const order = detail::shuffled(size - size % 2, counter_random{seed, step});
        rank_id const me = rank > idle ? rank - 1 : rank;
        auto const place = static_cast<std::size_t>(std::find(order.begin(), order.end(), me) - order.begin());
        rank_id const met = order[place ^ 1];
        rank_id const partner = met < idle ? met : met + 1;
        return {{partner}, {partner}};
    }
    step_id period(rank_id size) const { return size < 3 ? 1 : 0; }

    friend bool operator==(random_matching const&, random_matching const&) = default;
};
static_assert(graph<random_matching>);

}  // namespace chorus::topo
