// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/binomial_tree.hpp"
#include "chorus/schedule/combine.hpp"
#include "chorus/schedule/ring.hpp"

#include <string_view>

namespace chorus {

/// Broadcast as a binomial scatter and a ring all-gather; reduce as a ring reduce-scatter and a binomial gather.
/// With L = ⌈log2 p⌉ and h the largest power of two below p:
///
/// broadcast  rounds L+p-1 | sent 2n(p-1)/p (the root) | no scratch
/// reduce     rounds L+p-1 | sent n(p-1 + max(p-h, h/2))/p | reduced n(p-1)/p | no scratch
///
/// any p, any root, the same numbers for every root (0 for p = 1) | order of ranks not kept: each block starts
/// its ring elsewhere. Nothing is sent to the root of a broadcast. A block may be empty, none is of negative length.
/// Best for long vectors, where a tree of whole vectors is short of bandwidth. M. Barnett, L. Shuler, R. van de
/// Geijn, S. Gupta, D. Payne, J. Watts, "Interprocessor collective communication library (InterCom)" (1994).
struct scatter_all_gather {
    static constexpr std::string_view name = "scatter_all_gather";
    static constexpr bool keeps_order = false;

    constexpr schedule broadcast(rank_id me, rank_id size, rank_id root) const {
        schedule s = binomial_tree{}.scatter(me, size, root);
        rank_id const next = (me + 1) % size, previous = (me + size - 1) % size;
        for (rank_id r = 0; r + 1 < size; ++r) {
            s.round();
            if (next != root) s.send(next, {(me + size - r) % size, 1});
            if (me != root) s.recv(previous, {(previous + size - r) % size, 1});
        }
        return s;
    }

    constexpr schedule reduce(rank_id me, rank_id size, rank_id root) const {
        return then(ring{}.reduce_scatter(me, size), binomial_tree{}.gather(me, size, root));
    }

    constexpr cost broadcast_cost(rank_id size, double bytes) const {
        cost const scattered = binomial_tree{}.scatter_cost(size, bytes);
        return {.rounds = scattered.rounds + size - 1, .bytes_sent = 2 * scattered.bytes_sent};
    }
    constexpr cost reduce_cost(rank_id size, double bytes) const {
        cost const reduced = ring{}.reduce_scatter_cost(size, bytes);
        cost const gathered = binomial_tree{}.gather_cost(size, bytes);
        return {.rounds = reduced.rounds + gathered.rounds,
                .bytes_sent = reduced.bytes_sent + gathered.bytes_sent,
                .bytes_reduced = reduced.bytes_reduced};
    }

    friend constexpr bool operator==(scatter_all_gather, scatter_all_gather) = default;
};
static_assert(broadcast_algorithm<scatter_all_gather> && reduce_algorithm<scatter_all_gather>);

}  // namespace chorus
