// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"

#include <string_view>

namespace chorus {

/// All-reduce where every rank sends each block straight to its owner, who folds them in rank order and sends the result back.
///
/// rounds 2 | sent 2n(p-1)/p | reduced n(p-1)/p | scratch n(p-1)/p | any p | order of ranks kept: ((x0 ⊕ x1) ⊕ x2) …
/// Every element is folded left to right over the ranks wherever the blocks end, in one wide accumulation: the bits do not depend on
/// how a vector is split or fused. Best for small p or a full-bisection network: p-1 messages are in flight at once.
struct direct {
    static constexpr std::string_view name = "direct";
    static constexpr bool keeps_order = true;

    constexpr schedule all_reduce(rank_id me, rank_id size) const {
        schedule s{size};
        if (size == 1) return s;
        s.round();
        block_range slots;
        for (rank_id p = 0; p < size; ++p) {
            if (p == me) continue;
            block_range const slot = s.slot({me, 1});
            if (slots.count == 0) slots = slot;
            else ++slots.count;
            s.send(p, {p, 1}).recv(p, slot);
        }
        s.fold({me, 1}, slots, me);
        s.round();
        for (rank_id p = 0; p < size; ++p)
            if (p != me) s.send(p, {me, 1}).recv(p, {p, 1});
        return s;
    }

    constexpr cost all_reduce_cost(rank_id size, double bytes) const {
        double const share = bytes * (size - 1) / size;
        return {.rounds = size > 1 ? 2.0 : 0.0, .bytes_sent = 2 * share, .bytes_reduced = share, .scratch_bytes = share};
    }

    friend constexpr bool operator==(direct, direct) = default;
};
static_assert(all_reduce_algorithm<direct>);

}  // namespace chorus
