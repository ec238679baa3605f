// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"

#include <bit>
#include <string_view>

namespace chorus {

/// Barrier where in round k every rank tells the one 2^k ahead that it, and all it has heard of, have entered.
///
/// rounds ⌈log2 p⌉, one empty message each way per round | no bytes | no scratch | any p
/// No barrier of point-to-point messages has fewer rounds. D. Hensgen, R. Finkel, U. Manber,
/// "Two algorithms for barrier synchronization" (1988).
struct dissemination {
    static constexpr std::string_view name = "dissemination";

    constexpr schedule barrier(rank_id me, rank_id size) const {
        schedule s{1};
        for (rank_id distance = 1; distance < size; distance *= 2) {
            s.round();
            s.send((me + distance) % size, {0, 1}).recv((me + size - distance) % size, {0, 1});
        }
        return s;
    }

    constexpr cost barrier_cost(rank_id size) const {
        return {.rounds = size > 1 ? double(std::bit_width(size - 1)) : 0.0};
    }

    friend constexpr bool operator==(dissemination, dissemination) = default;
};
static_assert(barrier_algorithm<dissemination>);

}  // namespace chorus
