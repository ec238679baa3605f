// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"

#include <string_view>

namespace chorus {

/// Blocks travel round a ring, each rank sending to the next and receiving from the one before; a block is reduced on
/// its way and stops, complete, at its owner.
///
/// all_reduce      rounds 2(p-1) * segments | sent 2n(p-1)/p | reduced n(p-1)/p | no scratch
/// reduce_scatter  rounds p-1 | sent n(p-1)/p | reduced n(p-1)/p | no scratch
/// all_gather      rounds p-1 | sent n(p-1)/p
///
/// Any p | order of ranks not kept: block b is x(b+1) ⊕ x(b+2) ⊕ … ⊕ x(b), round the ring. One owner per block: all
/// ranks get the same bits.
/// `segments` cuts each block of an all-reduce further, so that many rounds are under way at
/// once: while one segment is reduced the next one travels. Best for large vectors: no rank sends less in total, and
/// only neighbours talk. Patarasuk & Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations,
/// 2009.
struct ring {
    static constexpr std::string_view name = "ring";
    static constexpr bool keeps_order = false;

    rank_id segments = 1;  ///< per block; 0 counts as 1

    constexpr schedule all_reduce(rank_id me, rank_id size) const {
        rank_id const pieces = pieces_per_block();
        schedule s{size * pieces};
        if (size == 1) return s;
        reduce_round_the_ring(s, me, size, pieces);
        gather_round_the_ring(s, me, size, pieces);
        return s.set_in_flight(pieces);
    }

    constexpr schedule reduce_scatter(rank_id me, rank_id size) const {
        schedule s{size};
        reduce_round_the_ring(s, me, size, 1);
        return s;
    }

    constexpr schedule all_gather(rank_id me, rank_id size) const {
        schedule s{size};
        gather_round_the_ring(s, me, size, 1);
        return s;
    }

    constexpr cost all_reduce_cost(rank_id size, double bytes) const {
        double const share = bytes * (size - 1) / size;
        return {.rounds = 2.0 * (size - 1) * pieces_per_block(), .bytes_sent = 2 * share, .bytes_reduced = share};
    }
    constexpr cost reduce_scatter_cost(rank_id size, double bytes) const {
        double const share = bytes * (size - 1) / size;
        return {.rounds = size - 1.0, .bytes_sent = share, .bytes_reduced = share};
    }
    constexpr cost all_gather_cost(rank_id size, double bytes) const {
        return {.rounds = size - 1.0, .bytes_sent = bytes * (size - 1) / size};
    }

    friend constexpr bool operator==(ring, ring) = default;

 private:
    constexpr rank_id pieces_per_block() const noexcept { return segments == 0 ? 1 : segments; }

    /// Piece i of block b is block b * pieces + i. Each piece has a round of its own, `pieces` rounds after the one
    /// it depends on.
    static constexpr void reduce_round_the_ring(schedule& s, rank_id me, rank_id size, rank_id pieces) {
        rank_id const next = (me + 1) % size;
        rank_id const before = (me + size - 1) % size;
        for (rank_id hop = 1; hop < size; ++hop) {
            rank_id const out = (me + size - hop) % size;
            rank_id const in = (before + size - hop) % size;
            for (rank_id i = 0; i < pieces; ++i)
                s.round().send(next, {out * pieces + i, 1}).recv_reduce(before, {in * pieces + i, 1}, side::left);
        }
    }

    static constexpr void gather_round_the_ring(schedule& s, rank_id me, rank_id size, rank_id pieces) {
        rank_id const next = (me + 1) % size;
        rank_id const before = (me + size - 1) % size;
        for (rank_id hop = 0; hop + 1 < size; ++hop) {
            rank_id const out = (me + size - hop) % size;
            rank_id const in = (before + size - hop) % size;
            for (rank_id i = 0; i < pieces; ++i)
                s.round().send(next, {out * pieces + i, 1}).recv(before, {in * pieces + i, 1});
        }
    }
};
static_assert(all_reduce_algorithm<ring> && reduce_scatter_algorithm<ring> && all_gather_algorithm<ring>);

}  // namespace chorus
