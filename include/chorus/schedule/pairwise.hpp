// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"

#include <cstdint>
#include <string_view>

namespace chorus {

/// All-to-all where in round r every rank sends to the one r ahead and receives from the one r behind.
///
/// rounds p-1 | sent n(p-1)/p | no scratch | any p | blocks may be uneven and differ between ranks
/// Every block travels once, and in no round do two ranks send to the same one. No round needs another: `in_flight`
/// of them may be under way at once. Best for long blocks. R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of
/// collective communication operations in MPICH" (2005).
struct pairwise {
    static constexpr std::string_view name = "pairwise";
    static constexpr bool takes_uneven = true;
    std::uint32_t in_flight = 2;

    constexpr schedule all_to_all(rank_id me, rank_id size) const {
        schedule s{size};
        s.set_in_flight(in_flight);
        for (rank_id distance = 1; distance < size; ++distance) {
            rank_id const to = (me + distance) % size, from = (me + size - distance) % size;
            s.round();
            s.send(to, {to, 1, space::input}).recv(from, {from, 1});
            if (distance == 1) s.copy({me, 1}, {me, 1, space::input});
        }
        if (size == 1) s.copy({0, 1}, {0, 1, space::input});
        return s;
    }

    constexpr cost all_to_all_cost(rank_id size, double bytes) const {
        return {.rounds = double(size - 1), .bytes_sent = bytes * (size - 1) / size};
    }

    friend constexpr bool operator==(pairwise, pairwise) = default;
};
static_assert(all_to_all_algorithm<pairwise>);

}  // namespace chorus
