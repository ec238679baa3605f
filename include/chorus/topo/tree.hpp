// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <bit>
#include <vector>

namespace chorus::topo {

/// What one rank does at one level of a tree: nothing (`parent` is nobody), or meet across one edge.
struct tree_link {
    rank_id parent = nobody;
    rank_id child = nobody;
    rank_id first = 0;  ///< the child's subtree is the ranks first … first + count - 1, the child among them
    rank_id count = 0;

    friend constexpr bool operator==(tree_link, tree_link) = default;
};

/// The binomial tree over ranks 0 … size - 1 with any rank as root, in which every subtree is a range of neighbouring
/// ranks.
///
/// A range of s ranks is cut so that the root's side keeps h of them, h the largest power of two below s; the other
/// side is the subtree of its first rank, and both are cut again one level down. For root 0 this is the usual
/// binomial tree. For other roots it is the usual tree's shape too (depth, degrees, subtree sizes do not depend on
/// the root), but no subtree wraps around from the last rank to rank 0: what the parent's side and the child's side
/// hold can always be joined in rank order.
struct binomial_tree {
    rank_id size = 1;
    rank_id root = 0;

    /// ⌈log2 size⌉: how many edges there are on the longest way from the root, and how many the root has.
    constexpr rank_id levels() const noexcept { return size > 1 ? static_cast<rank_id>(std::bit_width(size - 1)) : 0; }

    /// One entry per level, the root's farthest edge first: at a level a rank meets at most one other. Top down a
    /// rank first meets its parent, then its children in order of falling subtree size.
    constexpr std::vector<tree_link> links(rank_id me) const {
        std::vector<tree_link> met(levels());
        rank_id first = 0, count = size, top = root;
        for (tree_link& link : met) {
            if (count < 2) break;
            rank_id const kept = std::bit_floor(count - 1);
            bool const keeps_low = top - first < kept;
            rank_id const kept_first = keeps_low ? first : first + (count - kept);
            rank_id const cut_first = keeps_low ? first + kept : first;
            rank_id const cut_count = count - kept;
            if (me == top || me == cut_first) link = {top, cut_first, cut_first, cut_count};
            bool const in_cut = me >= cut_first && me - cut_first < cut_count;
            first = in_cut ? cut_first : kept_first;
            count = in_cut ? cut_count : kept;
            if (in_cut) top = cut_first;
        }
        return met;
    }

    friend constexpr bool operator==(binomial_tree, binomial_tree) = default;
};

/// A node's place in a binary tree; nobody where there is none.
struct tree_place {
    rank_id parent = nobody;
    rank_id left = nobody;   ///< root of the subtree of lower nodes
    rank_id right = nobody;  ///< root of the subtree of higher nodes
    rank_id depth = 0;       ///< edges from node 0

    friend constexpr bool operator==(tree_place, tree_place) = default;
};

/// Two binary trees over nodes 0 … size - 1, both hanging from node 0 (which has one child in each) and both in
/// order: a left subtree holds only lower, a right subtree only higher nodes than the node itself. No node other than
/// 0 has children in both trees, so that half of the data in each tree loads every node with at most one full copy
/// out and one in.
///
/// Node v sits at position v + t of tree t = 0, 1; even positions are inner nodes, odd ones leaves; the root of a
/// range of positions is the one divisible by the highest power of two.
/// After P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast, reduction and scan"
/// (2009). Their second tree is mirrored or shifted around the end; this one is cut off instead, which keeps it in
/// order for every size.
struct double_binary_tree {
    rank_id size = 1;

    /// Edges on the longest way from node 0, over both trees: 0, 1, and ⌊log2 size⌋ + 1 from size 3 on.
    constexpr rank_id depth() const noexcept {
        return size < 3 ? size - 1 : static_cast<rank_id>(std::bit_width(size));
    }

    constexpr tree_place place(rank_id tree, rank_id node) const noexcept {
        if (size < 2) return {};
        rank_id low = 1 + tree, high = size - 1 + tree;
        rank_id top = highest(low, high);
        if (node == 0) return {.right = top - tree};
        rank_id const position = node + tree;
        tree_place found{.parent = 0, .depth = 1};
        while (top != position) {
            found.parent = top - tree;
            ++found.depth;
            (position < top ? high : low) = position < top ? top - 1 : top + 1;
            top = highest(low, high);
        }
        if (low < top) found.left = highest(low, top - 1) - tree;
        if (top < high) found.right = highest(top + 1, high) - tree;
        return found;
    }

    friend constexpr bool operator==(double_binary_tree, double_binary_tree) = default;

 private:
    /// The number in low … high, 1 <= low <= high, that is divisible by the highest power of two.
    static constexpr rank_id highest(rank_id low, rank_id high) noexcept {
        return high & ~(std::bit_floor((low - 1) ^ high) - 1);
    }
};

}  // namespace chorus::topo
