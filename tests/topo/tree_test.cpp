// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/topo/tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <vector>

using chorus::nobody;
using chorus::rank_id;
namespace topo = chorus::topo;

namespace {

std::vector<rank_id> some_sizes() {
    std::vector<rank_id> sizes;
    for (rank_id p = 1; p <= 34; ++p) sizes.push_back(p);
    for (rank_id p : {63u, 64u, 65u, 100u, 127u, 128u, 129u}) sizes.push_back(p);
    return sizes;
}

std::vector<rank_id> sorted(std::vector<rank_id> v) {
    std::sort(v.begin(), v.end());
    return v;
}

struct range {
    rank_id first, end;
};

/// Walks tree `t` below `node`: it must be in order, both ends of each edge must agree. Returns the nodes covered.
range covered(topo::double_binary_tree trees, rank_id t, rank_id node) {
    topo::tree_place const at = trees.place(t, node);
    range own{node, node + 1};
    for (rank_id child : {at.left, at.right}) {
        if (child == nobody) continue;
        REQUIRE(child < trees.size);
        REQUIRE(trees.place(t, child).parent == node);
        REQUIRE(trees.place(t, child).depth == at.depth + 1);
        range const below = covered(trees, t, child);
        CHECK((child == at.left ? below.end == own.first : below.first == own.end));
        (child == at.left ? own.first : own.end) = child == at.left ? below.first : below.end;
    }
    return own;
}

}  // namespace

TEST_CASE("binomial tree: every rank but the root is a child once, both ends agree on each edge") {
    for (rank_id p : some_sizes())
        for (rank_id root = 0; root < p; ++root) {
            topo::binomial_tree const tree{p, root};
            CAPTURE(p);
            CAPTURE(root);
            REQUIRE((rank_id{1} << tree.levels()) >= p);
            if (p > 1) REQUIRE((rank_id{1} << (tree.levels() - 1)) < p);
            for (rank_id me = 0; me < p; ++me) {
                auto const links = tree.links(me);
                REQUIRE(links.size() == tree.levels());
                rank_id as_child = 0;
                for (rank_id level = 0; level < tree.levels(); ++level) {
                    topo::tree_link const link = links[level];
                    if (link.parent == nobody) continue;
                    bool const is_child = link.child == me;
                    REQUIRE(is_child != (link.parent == me));
                    if (is_child) ++as_child;
                    else REQUIRE((me == root || as_child == 1));  // top down, a parent comes before the children
                    REQUIRE(tree.links(is_child ? link.parent : link.child)[level] == link);
                }
                REQUIRE(as_child == (me == root ? 0 : 1));
            }
        }
}

TEST_CASE("binomial tree: going up, what parent and child hold are neighbouring ranges, and the root ends with all") {
    for (rank_id p : some_sizes())
        for (rank_id root = 0; root < p; ++root) {
            topo::binomial_tree const tree{p, root};
            std::vector<range> held(p);
            std::vector<std::vector<topo::tree_link>> links(p);
            for (rank_id r = 0; r < p; ++r) {
                held[r] = {r, r + 1};
                links[r] = tree.links(r);
            }
            for (rank_id level = tree.levels(); level-- > 0;)
                for (rank_id parent = 0; parent < p; ++parent) {
                    topo::tree_link const link = links[parent][level];
                    if (link.parent != parent) continue;
                    range& mine = held[parent];
                    range const arrived = held[link.child];
                    REQUIRE(arrived.first == link.first);
                    REQUIRE(arrived.end == link.first + link.count);
                    REQUIRE((link.child < parent ? arrived.end == mine.first : mine.end == arrived.first));
                    mine = {(std::min)(mine.first, arrived.first), (std::max)(mine.end, arrived.end)};
                }
            CHECK(held[root].first == 0);
            CHECK(held[root].end == p);
        }
}

TEST_CASE("binomial tree: one shape for all roots; for root 0 a parent is its child without the lowest set bit") {
    for (rank_id p : some_sizes()) {
        auto shape = [p](rank_id root) {
            std::vector<rank_id> sizes;
            for (rank_id me = 0; me < p; ++me)
                for (auto const& link : topo::binomial_tree{p, root}.links(me))
                    if (link.child == me) sizes.push_back(link.count);
            return sorted(sizes);
        };
        for (rank_id root = 1; root < p; ++root) CHECK(shape(root) == shape(0));
        for (rank_id me = 0; me < p; ++me)
            for (auto const& link : topo::binomial_tree{p}.links(me))
                if (link.child == me) CHECK(link.parent == (me & (me - 1)));
    }
}

TEST_CASE("binomial tree: the largest sizes do not overflow") {
    rank_id const p = 0xFFFFFFFEu;
    for (rank_id root : {rank_id{0}, p / 2, p - 1}) {
        topo::binomial_tree const tree{p, root};
        CHECK(tree.levels() == 32);
        rank_id below = 1;
        for (auto const& link : tree.links(root)) {
            REQUIRE(link.parent == root);
            below += link.count;
        }
        CHECK(below == p);
    }
}

TEST_CASE("double binary tree: both trees reach every node, in order, below one child of node 0") {
    for (rank_id p : some_sizes())
        for (rank_id t = 0; t < 2; ++t) {
            CAPTURE(p);
            topo::double_binary_tree const trees{p};
            topo::tree_place const source = trees.place(t, 0);
            CHECK(source.parent == nobody);
            CHECK(source.left == nobody);
            CHECK((source.right == nobody) == (p == 1));
            range const all = covered(trees, t, 0);
            CHECK(all.first == 0);
            CHECK(all.end == p);
        }
}

TEST_CASE("double binary tree: a node has children in at most one tree, and depth is the depth of the deeper one") {
    for (rank_id p : some_sizes()) {
        topo::double_binary_tree const trees{p};
        rank_id deepest = 0;
        for (rank_id node = 1; node < p; ++node) {
            rank_id with_children = 0;
            for (rank_id t = 0; t < 2; ++t) {
                topo::tree_place const at = trees.place(t, node);
                deepest = (std::max)(deepest, at.depth);
                if (at.left != nobody || at.right != nobody) ++with_children;
            }
            CHECK(with_children <= 1);
        }
        CHECK(trees.depth() == deepest);
        CHECK(trees.depth() <= static_cast<rank_id>(std::bit_width(p)));
    }
}
