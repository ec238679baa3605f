// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"
#include "chorus/topo/tree.hpp"

#include <bit>
#include <string_view>

namespace chorus {

/// Everything along one binomial tree, whole vectors or whole subtrees at a time. With L = ⌈log2 p⌉ and h the largest
/// power of two below p (p > 1; all numbers are 0 for p = 1):
///
/// all_reduce  rounds 2L | sent nL | reduced nL | no scratch   (reduce to rank 0, then broadcast)
/// broadcast   rounds L  | sent nL (the root)   | no scratch
/// reduce      rounds L  | sent n | reduced nL (the root) | no scratch
/// gather      rounds L  | sent max(p-h, h/2) n/p | no scratch
/// scatter     rounds L  | sent n(p-1)/p (the root) | no scratch
///
/// any p, any root, the same numbers for every root | order of ranks kept, every subtree being a range of ranks
/// (topo/tree.hpp). One message per rank and round, never of negative or wrapped length; only block numbers matter,
/// so blocks may be uneven. Best for short vectors: no tree has fewer rounds. The tree is folklore; for its use here
/// see R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective communication operations in MPICH" (2005).
struct binomial_tree {
    static constexpr std::string_view name = "binomial_tree";
    static constexpr bool keeps_order = true;

    constexpr schedule all_reduce(rank_id me, rank_id size) const {
        schedule s{1};
        up(s, me, {size, 0});
        down(s, me, {size, 0});
        return s;
    }
    constexpr schedule broadcast(rank_id me, rank_id size, rank_id root) const {
        schedule s{1};
        down(s, me, {size, root});
        return s;
    }
    constexpr schedule reduce(rank_id me, rank_id size, rank_id root) const {
        schedule s{1};
        up(s, me, {size, root});
        return s;
    }
    constexpr schedule gather(rank_id me, rank_id size, rank_id root) const {
        schedule s{size};
        auto const links = topo::binomial_tree{size, root}.links(me);
        for (auto link = links.rbegin(); link != links.rend(); ++link) {
            s.round();
            if (link->child == me) s.send(link->parent, {link->first, link->count});
            if (link->parent == me) s.recv(link->child, {link->first, link->count});
        }
        return s;
    }
    constexpr schedule scatter(rank_id me, rank_id size, rank_id root) const {
        schedule s{size};
        for (topo::tree_link const& link : topo::binomial_tree{size, root}.links(me)) {
            s.round();
            if (link.child == me) s.recv(link.parent, {link.first, link.count});
            if (link.parent == me) s.send(link.child, {link.first, link.count});
        }
        return s;
    }

    constexpr cost all_reduce_cost(rank_id size, double bytes) const {
        double const levels = topo::binomial_tree{size}.levels();
        return {.rounds = 2 * levels, .bytes_sent = bytes * levels, .bytes_reduced = bytes * levels};
    }
    constexpr cost broadcast_cost(rank_id size, double bytes) const {
        double const levels = topo::binomial_tree{size}.levels();
        return {.rounds = levels, .bytes_sent = bytes * levels};
    }
    constexpr cost reduce_cost(rank_id size, double bytes) const {
        double const levels = topo::binomial_tree{size}.levels();
        return {.rounds = levels, .bytes_sent = size > 1 ? bytes : 0, .bytes_reduced = bytes * levels};
    }
    constexpr cost gather_cost(rank_id size, double bytes) const {
        return {.rounds = double(topo::binomial_tree{size}.levels()), .bytes_sent = bytes * largest_child(size) / size};
    }
    constexpr cost scatter_cost(rank_id size, double bytes) const {
        return {.rounds = double(topo::binomial_tree{size}.levels()), .bytes_sent = bytes * (size - 1) / size};
    }

    friend constexpr bool operator==(binomial_tree, binomial_tree) = default;

    /// Ranks in the largest subtree that does not hold the root.
    static constexpr rank_id largest_child(rank_id size) noexcept {
        if (size < 2) return 0;
        rank_id const kept = std::bit_floor(size - 1);
        return size - kept > kept / 2 ? size - kept : kept / 2;
    }

 private:
    static constexpr void up(schedule& s, rank_id me, topo::binomial_tree tree) {
        auto const links = tree.links(me);
        for (auto link = links.rbegin(); link != links.rend(); ++link) {
            s.round();
            if (link->child == me) s.send(link->parent, {0, 1});
            if (link->parent == me) s.recv_reduce(link->child, {0, 1}, link->child < me ? side::left : side::right);
        }
    }
    static constexpr void down(schedule& s, rank_id me, topo::binomial_tree tree) {
        for (topo::tree_link const& link : tree.links(me)) {
            s.round();
            if (link.child == me) s.recv(link.parent, {0, 1});
            if (link.parent == me) s.send(link.child, {0, 1});
        }
    }
};
static_assert(all_reduce_algorithm<binomial_tree> && broadcast_algorithm<binomial_tree> &&
              reduce_algorithm<binomial_tree> && gather_algorithm<binomial_tree> && scatter_algorithm<binomial_tree>);

}  // namespace chorus
