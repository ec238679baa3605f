// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/direct.hpp"

#include <string_view>

namespace chorus {

/// All-reduce in one round: every rank sends its whole vector to every other rank and folds all of them itself.
///
/// rounds 1 | sent n(p-1) | reduced n(p-1) | scratch n(p-1) | any p | order of ranks kept: ((x0 ⊕ x1) ⊕ x2) …
/// Every rank folds the same operands in the same order, the order of `direct`, so the bits are those of `direct`.
/// Best for a few bytes, where one latency is all that counts.
struct all_pairs {
    static constexpr std::string_view name = "all_pairs";
    static constexpr bool keeps_order = true;
    static constexpr bool adds_up_everywhere = true;

    constexpr schedule all_reduce(rank_id me, rank_id size) const {
        schedule s{1};
        if (size == 1) return s;
        s.round();
        detail::exchange_and_fold(s, me, size, {0, 1}, [](rank_id) { return block_range{0, 1}; });
        return s;
    }

    constexpr cost all_reduce_cost(rank_id size, double bytes) const {
        double const others = bytes * (size - 1);
        return {.rounds = size > 1 ? 1.0 : 0.0, .bytes_sent = others, .bytes_reduced = others, .scratch_bytes = others};
    }

    friend constexpr bool operator==(all_pairs, all_pairs) = default;
};
static_assert(all_reduce_algorithm<all_pairs>);

}  // namespace chorus
