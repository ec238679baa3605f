// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"

#include <string_view>

namespace chorus {

namespace detail {

/// `count` slots, one after another, each as long as `like`.
constexpr block_range consecutive_slots(schedule& s, rank_id count, block_range like) {
    block_range slots{0, 0, space::scratch};
    for (rank_id i = 0; i < count; ++i) {
        block_range const slot = s.slot(like);
        if (i == 0) slots.first = slot.first;
        ++slots.count;
    }
    return slots;
}

/// Receives `mine` from every other rank into slots in rank order and folds them into it; to peer p goes outgoing(p).
template <class Outgoing>
constexpr void exchange_and_fold(schedule& s, rank_id me, rank_id size, block_range mine, Outgoing const& outgoing) {
    block_range const slots = consecutive_slots(s, size - 1, mine);
    for (rank_id i = 1; i < size; ++i) {
        rank_id const to = (me + i) % size;
        rank_id const from = (me + size - i) % size;
        s.send(to, outgoing(to)).recv(from, {slots.first + (from < me ? from : from - 1), 1, space::scratch});
    }
    s.fold(mine, slots, me);
}

}  // namespace detail

/// Every rank talks to every other one at once, each block going straight to where it is needed; reductions fold in
/// rank order.
///
/// all_reduce      rounds 2 | sent 2n(p-1)/p | reduced n(p-1)/p | scratch n(p-1)/p
/// reduce_scatter  rounds 1 | sent n(p-1)/p | reduced n(p-1)/p | scratch n(p-1)/p
/// all_gather      rounds 1 | sent n(p-1)/p
/// broadcast       rounds 1 | sent n(p-1), by the root
/// reduce          rounds 1 | sent n | reduced n(p-1) and scratch n(p-1), at the root
/// gather          rounds 1 | sent n/p
/// scatter         rounds 1 | sent n(p-1)/p, by the root
/// all_to_all      rounds 1 | sent n(p-1)/p
/// scan            rounds 1 | sent n(p-1), by rank 0 | reduced n(p-1) and scratch n(p-1), at the last rank
/// exclusive_scan  rounds 1 | sent n(p-1), by rank 0 | reduced n(p-2) and scratch n(p-1), at the last rank
///
/// Any p | order of ranks kept: ((x0 ⊕ x1) ⊕ x2) …
/// Every element is folded left to right over the ranks wherever the
/// blocks end, in one wide accumulation: the bits do not depend on how a vector is split or fused. Best for small p
/// or a full-bisection network: p-1 messages are in flight at once. Peers are visited from the next rank on, so that
/// not all ranks call on the same one first.
struct direct {
    static constexpr std::string_view name = "direct";
    static constexpr bool keeps_order = true;
    static constexpr bool takes_uneven = true;

    constexpr schedule all_reduce(rank_id me, rank_id size) const {
        schedule s = reduce_scatter(me, size);
        if (size == 1) return s;
        s.round();
        share_own_block(s, me, size);
        return s;
    }

    constexpr schedule reduce_scatter(rank_id me, rank_id size) const {
        schedule s{size};
        if (size == 1) return s;
        s.round();
        detail::exchange_and_fold(s, me, size, {me, 1}, [](rank_id peer) { return block_range{peer, 1}; });
        return s;
    }

    constexpr schedule all_gather(rank_id me, rank_id size) const {
        schedule s{size};
        if (size == 1) return s;
        s.round();
        share_own_block(s, me, size);
        return s;
    }

    constexpr schedule broadcast(rank_id me, rank_id size, rank_id root) const {
        schedule s{1};
        if (size == 1) return s;
        s.round();
        if (me != root) return s.recv(root, {0, 1});
        for (rank_id i = 1; i < size; ++i) s.send((root + i) % size, {0, 1});
        return s;
    }

    constexpr schedule reduce(rank_id me, rank_id size, rank_id root) const {
        schedule s{1};
        if (size == 1) return s;
        s.round();
        if (me != root) return s.send(root, {0, 1});
        block_range const slots = detail::consecutive_slots(s, size - 1, {0, 1});
        for (rank_id i = 0; i < slots.count; ++i)
            s.recv(i < root ? i : i + 1, {slots.first + i, 1, space::scratch});
        return s.fold({0, 1}, slots, root);
    }

    constexpr schedule gather(rank_id me, rank_id size, rank_id root) const {
        schedule s{size};
        if (size == 1) return s;
        s.round();
        if (me != root) return s.send(root, {me, 1});
        for (rank_id p = 0; p < size; ++p)
            if (p != root) s.recv(p, {p, 1});
        return s;
    }

    constexpr schedule scatter(rank_id me, rank_id size, rank_id root) const {
        schedule s{size};
        if (size == 1) return s;
        s.round();
        if (me != root) return s.recv(root, {me, 1});
        for (rank_id p = 0; p < size; ++p)
            if (p != root) s.send(p, {p, 1});
        return s;
    }

    constexpr schedule all_to_all(rank_id me, rank_id size) const {
        schedule s{size};
        s.round();
        for (rank_id i = 1; i < size; ++i) {
            rank_id const to = (me + i) % size;
            rank_id const from = (me + size - i) % size;
            s.send(to, {to, 1, space::input}).recv(from, {from, 1});
        }
        return s.copy({me, 1}, {me, 1, space::input});
    }

    constexpr schedule scan(rank_id me, rank_id size) const {
        schedule s{1};
        if (size == 1) return s;
        block_range const slots = send_up(s, me, size);
        if (me > 0) s.fold({0, 1}, slots, me);
        return s;
    }

    constexpr schedule exclusive_scan(rank_id me, rank_id size) const {
        schedule s{1};
        if (size == 1) return s;
        block_range const slots = send_up(s, me, size);
        if (me > 0) s.copy({0, 1}, {slots.end() - 1, 1, space::scratch});
        if (me > 1) s.fold({0, 1}, {slots.first, me - 1, space::scratch}, me - 1);
        return s;
    }

    constexpr cost all_reduce_cost(rank_id size, double bytes) const {
        double const share = bytes * (size - 1) / size;
        return {.rounds = 2 * one_round(size), .bytes_sent = 2 * share, .bytes_reduced = share, .scratch_bytes = share};
    }
    constexpr cost reduce_scatter_cost(rank_id size, double bytes) const {
        double const share = bytes * (size - 1) / size;
        return {.rounds = one_round(size), .bytes_sent = share, .bytes_reduced = share, .scratch_bytes = share};
    }
    constexpr cost all_gather_cost(rank_id size, double bytes) const {
        return {.rounds = one_round(size), .bytes_sent = bytes * (size - 1) / size};
    }
    constexpr cost broadcast_cost(rank_id size, double bytes) const {
        return {.rounds = one_round(size), .bytes_sent = bytes * (size - 1)};
    }
    constexpr cost reduce_cost(rank_id size, double bytes) const {
        double const others = bytes * (size - 1);
        return {.rounds = one_round(size), .bytes_sent = bytes * one_round(size), .bytes_reduced = others,
                .scratch_bytes = others};
    }
    constexpr cost gather_cost(rank_id size, double bytes) const {
        return {.rounds = one_round(size), .bytes_sent = bytes / size * one_round(size)};
    }
    constexpr cost scatter_cost(rank_id size, double bytes) const { return all_gather_cost(size, bytes); }
    constexpr cost all_to_all_cost(rank_id size, double bytes) const { return all_gather_cost(size, bytes); }
    constexpr cost scan_cost(rank_id size, double bytes) const {
        double const others = bytes * (size - 1);
        return {.rounds = one_round(size), .bytes_sent = others, .bytes_reduced = others, .scratch_bytes = others};
    }
    constexpr cost exclusive_scan_cost(rank_id size, double bytes) const {
        cost c = scan_cost(size, bytes);
        c.bytes_reduced = size > 2 ? bytes * (size - 2) : 0;
        return c;
    }

    friend constexpr bool operator==(direct, direct) = default;

 private:
    static constexpr double one_round(rank_id size) { return size > 1 ? 1 : 0; }

    static constexpr void share_own_block(schedule& s, rank_id me, rank_id size) {
        for (rank_id i = 1; i < size; ++i) {
            rank_id const from = (me + size - i) % size;
            s.send((me + i) % size, {me, 1}).recv(from, {from, 1});
        }
    }

    /// One round: the whole vector to every higher rank, those of all lower ranks into slots in rank order.
    static constexpr block_range send_up(schedule& s, rank_id me, rank_id size) {
        s.round();
        block_range const slots = detail::consecutive_slots(s, me, {0, 1});
        for (rank_id p = me + 1; p < size; ++p) s.send(p, {0, 1});
        for (rank_id p = 0; p < me; ++p) s.recv(p, {slots.first + p, 1, space::scratch});
        return slots;
    }
};
static_assert(all_reduce_algorithm<direct> && reduce_scatter_algorithm<direct> && all_gather_algorithm<direct>);
static_assert(broadcast_algorithm<direct> && reduce_algorithm<direct> && gather_algorithm<direct>);
static_assert(scatter_algorithm<direct> && all_to_all_algorithm<direct> && scan_algorithm<direct>);

}  // namespace chorus
