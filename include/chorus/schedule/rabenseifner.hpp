// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/recursive_halving.hpp"

#include <string_view>

namespace chorus {

/// Recursive halving, then doubling back (all_reduce) or a tree back to the root (reduce). The vector is cut into q
/// blocks, q the largest power of two that is not above p; neighbours beyond it are folded into pairs first.
/// In brackets: what that adds.
///
/// all_reduce  rounds 2 log2 q (+2) | sent 2n(q-1)/q (+n) | reduced n(q-1)/q (+n) | no scratch
/// reduce      rounds 2 log2 q (+1) | sent n(q-1)/q + n/2 | reduced n(q-1)/q (+n) | no scratch
///
/// Any p and root | order of ranks kept: nearest partners combine first, lower ⊕ upper. One owner per block: all
/// ranks get the same bits. Best for medium and large vectors where p is a power of two. Thakur, Rabenseifner &
/// Gropp, 2005.
struct rabenseifner {
    static constexpr std::string_view name = "rabenseifner";
    static constexpr bool keeps_order = true;

    constexpr schedule all_reduce(rank_id me, rank_id size) const {
        topo::folded_hypercube const cube{size};
        schedule s = halved(cube, me, nobody);
        for (rank_id bit = cube.dimensions(); bit-- > 0;) {
            s.round();
            if (!cube.is_first(me)) continue;
            rank_id const corner = cube.corner_of(me);
            rank_id const peer = cube.first_rank(corner ^ rank_id{1} << bit);
            detail::halving const at{cube, corner, bit};
            s.send(peer, {at.mine, at.count}).recv(peer, {at.theirs, at.count});
        }
        if (cube.pairs() > 0) detail::unfold_pairs(s, cube, me, {0, cube.corners()});
        return s;
    }

    constexpr schedule reduce(rank_id me, rank_id size, rank_id root) const {
        topo::folded_hypercube const cube{size};
        schedule s = halved(cube, me, root);
        rank_id const corner = cube.corner_of(me);
        rank_id const differing = corner ^ cube.corner_of(root);
        for (rank_id bit = cube.dimensions(); bit-- > 0;) {
            s.round();
            if (me != acting(cube, corner, root) || differing >> bit > 1) continue;
            rank_id const peer = acting(cube, corner ^ rank_id{1} << bit, root);
            detail::halving const at{cube, corner, bit};
            if (differing >> bit == 1) s.send(peer, {at.mine, at.count});
            else s.recv(peer, {at.theirs, at.count});
        }
        return s;
    }

    constexpr cost all_reduce_cost(rank_id size, double bytes) const {
        topo::folded_hypercube const cube{size};
        double const folds = cube.pairs() > 0 ? 1 : 0;
        double const share = bytes * (cube.corners() - 1) / cube.corners();
        return {.rounds = 2 * (cube.dimensions() + folds), .bytes_sent = 2 * share + folds * bytes,
                .bytes_reduced = share + folds * bytes};
    }
    constexpr cost reduce_cost(rank_id size, double bytes) const {
        topo::folded_hypercube const cube{size};
        double const folds = cube.pairs() > 0 ? 1 : 0;
        double const share = bytes * (cube.corners() - 1) / cube.corners();
        return {.rounds = 2 * cube.dimensions() + folds, .bytes_sent = size > 1 ? share + bytes / 2 : 0,
                .bytes_reduced = share + folds * bytes};
    }

    friend constexpr bool operator==(rabenseifner, rabenseifner) = default;

 private:
    /// The rank that acts for a corner: the root at its own, elsewhere the first.
    static constexpr rank_id acting(topo::folded_hypercube cube, rank_id corner, rank_id root) {
        return root != nobody && cube.corner_of(root) == corner ? root : cube.first_rank(corner);
    }

    /// Fold and halve: the rank that acts for a corner ends with block reversed(corner) complete.
    static constexpr schedule halved(topo::folded_hypercube cube, rank_id me, rank_id root) {
        schedule s{cube.corners()};
        rank_id const corner = cube.corner_of(me);
        rank_id const actor = acting(cube, corner, root);
        if (cube.pairs() > 0) detail::fold_pairs(s, cube, me, actor, {0, cube.corners()});
        for (rank_id bit = 0; bit < cube.dimensions(); ++bit) {
            s.round();
            if (me != actor) continue;
            rank_id const other = corner ^ rank_id{1} << bit;
            rank_id const peer = acting(cube, other, root);
            detail::halving const at{cube, corner, bit};
            s.send(peer, {at.theirs, at.count})
                .recv_reduce(peer, {at.mine, at.count}, other < corner ? side::left : side::right);
        }
        return s;
    }
};
static_assert(all_reduce_algorithm<rabenseifner> && reduce_algorithm<rabenseifner>);

}  // namespace chorus
