// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace chorus::topo::detail {

/// The ranks 0 … count - 1 in an order drawn from `random`, all orders being equally likely: the same on all ranks.
inline std::vector<rank_id> shuffled(rank_id count, counter_random const& random) {
    std::vector<rank_id> order(count);
    std::iota(order.begin(), order.end(), rank_id{0});
    for (std::size_t left = count; left > 1; --left)
        std::swap(order[left - 1], order[static_cast<std::size_t>(random.below(left, left))]);
    return order;
}

}  // namespace chorus::topo::detail
