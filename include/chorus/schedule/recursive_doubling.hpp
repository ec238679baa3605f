// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"
#include "chorus/topo/hypercube.hpp"

#include <algorithm>
#include <string_view>

namespace chorus {

namespace detail {

/// One round in which the second rank of each pair adds its `all` to that of `acting`, which from then on acts for
/// the corner.
constexpr void fold_pairs(schedule& s, topo::folded_hypercube cube, rank_id me, rank_id acting, block_range all) {
    s.round();
    if (!cube.is_paired(me)) return;
    rank_id const partner = me ^ 1;
    if (me != acting) s.send(acting, all);
    else s.recv_reduce(partner, all, partner > me ? side::right : side::left);
}

/// One round in which the first rank of each pair hands `all` to the second.
constexpr void unfold_pairs(schedule& s, topo::folded_hypercube cube, rank_id me, block_range all) {
    s.round();
    if (!cube.is_paired(me)) return;
    if (cube.is_first(me)) s.send(me + 1, all);
    else s.recv(me - 1, all);
}

/// Ranks that the runs of 1, 2, 4 … corners hold that begin at corner 0, all but the whole cube: the most that
/// anybody hands on, or keeps, in blocks of 1/p, when blocks double or halve along the cube.
constexpr double doubled_blocks(topo::folded_hypercube cube) {
    double blocks = 0;
    for (rank_id run = 1; run < cube.corners(); run *= 2) blocks += cube.first_rank(run);
    return blocks;
}

}  // namespace detail

/// Partners 1, 2, 4 … corners of a hypercube apart exchange all they have. If p is not a power of two, the first
/// p - q ranks with odd number (q the largest power of two below p) hand theirs to the rank before them and get the
/// result from it. In brackets: what that adds; b is the ranks in the runs of 1, 2, 4 … q/2 corners from corner 0 on.
///
/// all_reduce      rounds log2 q (+2) | sent n log2 q (+n) | reduced n log2 q (+n) | scratch n
/// all_gather      rounds log2 q (+2) | sent n(p-1)/p, or nb/p + n where p is not a power of two
/// scan            rounds ⌈log2 p⌉ | sent n⌈log2 p⌉ | reduced n⌈log2 p⌉ | scratch n
/// exclusive_scan  rounds ⌈log2 p⌉ | sent n⌈log2 p⌉ | reduced up to 2n⌊log2(p-1)⌋ | scratch 2n (n if p < 4)
///
/// Any p | order of ranks kept: runs of neighbours are combined, and both partners compute lower ⊕ upper, so all get
/// the same bits. Best for short vectors. Thakur, Rabenseifner & Gropp, Optimization of collective communication
/// operations in MPICH, 2005; the scans: Hillis & Steele, Data parallel algorithms, 1986.
struct recursive_doubling {
    static constexpr std::string_view name = "recursive_doubling";
    static constexpr bool keeps_order = true;
    static constexpr bool adds_up_everywhere = true;

    constexpr schedule all_reduce(rank_id me, rank_id size) const {
        schedule s{1};
        if (size == 1) return s;
        topo::folded_hypercube const cube{size};
        block_range const all{0, 1};
        rank_id const corner = cube.corner_of(me);
        if (cube.pairs() > 0) detail::fold_pairs(s, cube, me, cube.first_rank(corner), all);
        block_range const slot = cube.is_first(me) ? s.slot(all) : block_range{};
        for (rank_id distance = 1; distance < cube.corners(); distance *= 2) {
            s.round();
            if (!cube.is_first(me)) continue;
            rank_id const peer = cube.first_rank(corner ^ distance);
            s.send(peer, all).recv(peer, slot).reduce(all, slot, peer < me ? side::left : side::right);
        }
        if (cube.pairs() > 0) detail::unfold_pairs(s, cube, me, all);
        return s;
    }

    constexpr schedule all_gather(rank_id me, rank_id size) const {
        schedule s{size};
        topo::folded_hypercube const cube{size};
        rank_id const corner = cube.corner_of(me);
        if (cube.pairs() > 0) gather_pairs(s, cube, me);
        for (rank_id distance = 1; distance < cube.corners(); distance *= 2) {
            s.round();
            if (!cube.is_first(me)) continue;
            rank_id const mine = corner & ~(distance - 1);
            rank_id const peer = cube.first_rank(corner ^ distance);
            s.send(peer, run(cube, mine, distance)).recv(peer, run(cube, mine ^ distance, distance));
        }
        if (cube.pairs() > 0) detail::unfold_pairs(s, cube, me, {0, size});
        return s;
    }

    constexpr schedule scan(rank_id me, rank_id size) const {
        schedule s{1};
        block_range const all{0, 1};
        block_range const slot = me > 0 ? s.slot(all) : block_range{};
        for (rank_id distance = 1; distance < size; distance *= 2) {
            s.round();
            if (size - me > distance) s.send(me + distance, all);
            if (me >= distance) s.recv(me - distance, slot).reduce(all, slot, side::left);
        }
        return s;
    }

    /// The window that ends with me, which higher ranks are sent, lives in a slot: data leaves me out.
    constexpr schedule exclusive_scan(rank_id me, rank_id size) const {
        schedule s{1};
        block_range const all{0, 1};
        block_range const slot = me > 0 ? s.slot(all) : block_range{};
        block_range const window = me > 0 && me + 2 < size ? s.slot(all) : all;
        for (rank_id distance = 1; distance < size; distance *= 2) {
            s.round();
            if (size - me > distance) s.send(me + distance, distance == 1 ? all : window);
            if (me < distance) continue;
            s.recv(me - distance, slot);
            bool const sends_on = size - me > 2 * distance;
            if (distance == 1 && sends_on) s.copy(window, all);
            if (sends_on) s.reduce(window, slot, side::left);
            if (distance == 1) s.copy(all, slot);
            else s.reduce(all, slot, side::left);
        }
        return s;
    }

    constexpr cost all_reduce_cost(rank_id size, double bytes) const {
        topo::folded_hypercube const cube{size};
        double const dimensions = cube.dimensions();
        double const folds = cube.pairs() > 0 ? 1 : 0;
        return {.rounds = dimensions + 2 * folds, .bytes_sent = bytes * (dimensions + folds),
                .bytes_reduced = bytes * (dimensions + folds), .scratch_bytes = size > 1 ? bytes : 0};
    }
    constexpr cost all_gather_cost(rank_id size, double bytes) const {
        topo::folded_hypercube const cube{size};
        double const folds = cube.pairs() > 0 ? 1 : 0;
        return {.rounds = cube.dimensions() + 2 * folds,
                .bytes_sent = (detail::doubled_blocks(cube) + folds * size) * bytes / size};
    }
    constexpr cost scan_cost(rank_id size, double bytes) const {
        double const rounds = doublings(size);
        return {.rounds = rounds, .bytes_sent = rounds * bytes, .bytes_reduced = rounds * bytes,
                .scratch_bytes = size > 1 ? bytes : 0};
    }
    constexpr cost exclusive_scan_cost(rank_id size, double bytes) const {
        double const rounds = doublings(size);
        return {.rounds = rounds, .bytes_sent = rounds * bytes, .bytes_reduced = exclusive_reductions(size) * bytes,
                .scratch_bytes = size > 3 ? 2 * bytes : size > 1 ? bytes : 0};
    }

    friend constexpr bool operator==(recursive_doubling, recursive_doubling) = default;

 private:
    static constexpr block_range run(topo::folded_hypercube cube, rank_id corner, rank_id corners) {
        rank_id const first = cube.first_rank(corner);
        return {first, cube.first_rank(corner + corners) - first};
    }

    static constexpr void gather_pairs(schedule& s, topo::folded_hypercube cube, rank_id me) {
        s.round();
        if (!cube.is_paired(me)) return;
        if (cube.is_first(me)) s.recv(me + 1, {me + 1, 1});
        else s.send(me - 1, {me, 1});
    }

    static constexpr double doublings(rank_id size) { return std::bit_width(size - 1); }

    /// By the busiest rank, which is a power of two: it receives as often as any below twice itself, and is sent on
    /// most often.
    static constexpr double exclusive_reductions(rank_id size) {
        rank_id most = 0;
        for (rank_id me = 1, received = 0; me < size; me *= 2, ++received) {
            rank_id sent_on = 0;
            for (rank_id distance = 1; distance <= me; distance *= 2) sent_on += size - me > 2 * distance ? 1u : 0u;
            most = (std::max)(most, received + sent_on);
        }
        return most;
    }
};
static_assert(all_reduce_algorithm<recursive_doubling> && all_gather_algorithm<recursive_doubling>);
static_assert(scan_algorithm<recursive_doubling>);

}  // namespace chorus
