// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"
#include "chorus/topo/tree.hpp"

#include <cstdint>
#include <string_view>

namespace chorus {

/// Two binary trees, each carrying one half of the vector in S segments, one segment per tree and round (2S blocks in
/// all). With D the trees' depth, ⌊log2 p⌋ + 1 for p > 2, 1 for p = 2:
///
/// broadcast   rounds D+S-1  | sent n | no scratch         (nodes count from the root around)
/// reduce      rounds D+S    | sent n | reduced n | no scratch
///             (to rank 0 and, one round behind, from there to the root; D+S-1 rounds where rank 0 is the root)
/// all_reduce  rounds 2D+S-1 | sent 2n (1.5n for p = 3, n for p = 2) | reduced n | no scratch
///             (to rank 0 and down again: the two pipelines overlap)
///
/// any p, any root | order of ranks kept: both trees are in order, ((left ⊕ own) ⊕ right) at every node | 0 for p = 1
/// A rank sends up to two segments a round where the paper colours edges to send one per half step: the same bytes
/// per time. Best for middling to long vectors on many ranks: ring bandwidth at logarithmic depth.
/// P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan" (2009).
struct double_binary_tree {
    static constexpr std::string_view name = "double_binary_tree";
    static constexpr bool keeps_order = true;
    std::uint32_t segments = 8;

    constexpr schedule all_reduce(rank_id me, rank_id size) const {
        schedule s{2 * pieces()};
        if (size == 1) return s;
        rank_id const depth = topo::double_binary_tree{size}.depth();
        for (rank_id r = 0; r < 2 * depth + pieces() - 1; ++r) {
            s.round();
            up(s, me, size, r);
            if (r >= depth) down(s, me, size, 0, r - depth);
        }
        return s;
    }

    constexpr schedule broadcast(rank_id me, rank_id size, rank_id root) const {
        schedule s{2 * pieces()};
        if (size == 1) return s;
        rank_id const depth = topo::double_binary_tree{size}.depth();
        for (rank_id r = 0; r < depth + pieces() - 1; ++r) {
            s.round();
            down(s, me, size, root, r);
        }
        return s;
    }

    constexpr schedule reduce(rank_id me, rank_id size, rank_id root) const {
        schedule s{2 * pieces()};
        if (size == 1) return s;
        rank_id const depth = topo::double_binary_tree{size}.depth();
        for (rank_id r = 0; r < depth + pieces() - (root == 0 ? 1 : 0); ++r) {
            s.round();
            up(s, me, size, r);
            if (root == 0 || r < depth) continue;
            for (rank_id tree = 0; tree < 2; ++tree) {
                if (me == 0) s.send(root, block(tree, r - depth));
                if (me == root) s.recv(0, block(tree, r - depth));
            }
        }
        return s;
    }

    constexpr cost all_reduce_cost(rank_id size, double bytes) const {
        if (size == 1) return {};
        double const copies = size == 2 ? 1 : size == 3 ? 1.5 : 2;
        return {.rounds = 2.0 * topo::double_binary_tree{size}.depth() + pieces() - 1,
                .bytes_sent = copies * bytes,
                .bytes_reduced = bytes};
    }
    constexpr cost broadcast_cost(rank_id size, double bytes) const {
        if (size == 1) return {};
        return {.rounds = double(topo::double_binary_tree{size}.depth()) + pieces() - 1, .bytes_sent = bytes};
    }
    constexpr cost reduce_cost(rank_id size, double bytes) const {
        if (size == 1) return {};
        return {.rounds = double(topo::double_binary_tree{size}.depth()) + pieces(),
                .bytes_sent = bytes,
                .bytes_reduced = bytes};
    }

    friend constexpr bool operator==(double_binary_tree, double_binary_tree) = default;

 private:
    constexpr rank_id pieces() const noexcept { return segments == 0 ? 1 : segments; }
    constexpr block_range block(rank_id tree, rank_id segment) const noexcept { return {tree * pieces() + segment, 1}; }

    /// Round r of the way up to rank 0: an edge to depth d carries segment j in round depth - d + j.
    constexpr void up(schedule& s, rank_id me, rank_id size, rank_id r) const {
        topo::double_binary_tree const trees{size};
        for (rank_id tree = 0; tree < 2; ++tree) {
            topo::tree_place const at = trees.place(tree, me);
            auto at_work = [&](rank_id d) { return r + d >= trees.depth() && r + d - trees.depth() < pieces(); };
            if (at.depth < trees.depth() && at_work(at.depth + 1)) {
                block_range const part = block(tree, r + at.depth + 1 - trees.depth());
                if (at.left != nobody) s.recv_reduce(at.left, part, side::left);
                if (at.right != nobody) s.recv_reduce(at.right, part, side::right);
            }
            if (at.parent != nobody && at_work(at.depth))
                s.send(at.parent, block(tree, r + at.depth - trees.depth()));
        }
    }

    /// Round r of the way down from `root`, which is node 0: an edge to depth d carries segment j in round d - 1 + j.
    constexpr void down(schedule& s, rank_id me, rank_id size, rank_id root, rank_id r) const {
        for (rank_id tree = 0; tree < 2; ++tree) {
            topo::tree_place const at = topo::double_binary_tree{size}.place(tree, (me + size - root) % size);
            auto rank = [&](rank_id node) { return (root + node) % size; };
            auto at_work = [&](rank_id d) { return r + 1 >= d && r + 1 - d < pieces(); };
            if (at.parent != nobody && at_work(at.depth)) s.recv(rank(at.parent), block(tree, r + 1 - at.depth));
            if (!at_work(at.depth + 1)) continue;
            if (at.left != nobody) s.send(rank(at.left), block(tree, r - at.depth));
            if (at.right != nobody) s.send(rank(at.right), block(tree, r - at.depth));
        }
    }
};
static_assert(all_reduce_algorithm<double_binary_tree> && broadcast_algorithm<double_binary_tree> &&
              reduce_algorithm<double_binary_tree>);

}  // namespace chorus
