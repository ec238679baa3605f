// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/recursive_doubling.hpp"

#include <string_view>

namespace chorus {

namespace detail {

/// Where the vector stands after a corner has exchanged with those 1, 2, 4 … 2^bit away, halving what it works on
/// each time: it keeps `count` parts from `mine` on; its last partner keeps those from `theirs` on. In the end it
/// keeps part reversed(corner) alone.
struct halving {
    rank_id count;
    rank_id mine;
    rank_id theirs;

    constexpr halving(topo::folded_hypercube cube, rank_id corner, rank_id bit)
        : count{cube.corners() >> (bit + 1)}, mine{cube.reversed(corner) & ~(count - 1)}, theirs{mine ^ count} {}
};

}  // namespace detail

/// Reduce-scatter where partners 1, 2, 4 … corners of a hypercube apart split what they work on: each sends one half
/// and reduces the other. Nearest partners come first, so that order is kept; blocks then end at the rank with the
/// mirrored number and take one more hop home.
///
/// rounds log2 p + 1 (no hop for p = 2) | sent n (p = 2: n/2) | reduced n(p-1)/p | no scratch
/// p not a power of two (q the largest one below): rounds log2 q + 2 | sent n | reduced nb/p + n (b: see doubling)
/// Any p, by folding neighbours first | order of ranks kept. One owner per block: the same bits wherever it goes.
/// Best for short and medium vectors. Thakur, Rabenseifner & Gropp, 2005.
struct recursive_halving {
    static constexpr std::string_view name = "recursive_halving";
    static constexpr bool keeps_order = true;

    constexpr schedule reduce_scatter(rank_id me, rank_id size) const {
        schedule s{size};
        topo::folded_hypercube const cube{size};
        rank_id const corner = cube.corner_of(me);
        auto blocks_of = [&](rank_id part, rank_id parts) {
            return block_range{cube.first_rank(part), cube.first_rank(part + parts) - cube.first_rank(part)};
        };
        if (cube.pairs() > 0) detail::fold_pairs(s, cube, me, cube.first_rank(corner), {0, size});
        for (rank_id bit = 0; bit < cube.dimensions(); ++bit) {
            s.round();
            if (!cube.is_first(me)) continue;
            detail::halving const at{cube, corner, bit};
            rank_id const peer = cube.first_rank(corner ^ rank_id{1} << bit);
            s.send(peer, blocks_of(at.theirs, at.count))
                .recv_reduce(peer, blocks_of(at.mine, at.count), peer < me ? side::left : side::right);
        }
        if (has_hop_home(cube)) send_home(s, cube, me);
        return s;
    }

    constexpr cost reduce_scatter_cost(rank_id size, double bytes) const {
        topo::folded_hypercube const cube{size};
        double const folds = cube.pairs() > 0 ? 1 : 0;
        return {.rounds = cube.dimensions() + folds + (has_hop_home(cube) ? 1 : 0),
                .bytes_sent = size > 2 ? bytes : bytes * (size - 1) / size,
                .bytes_reduced = (detail::doubled_blocks(cube) + folds * size) * bytes / size};
    }

    friend constexpr bool operator==(recursive_halving, recursive_halving) = default;

 private:
    static constexpr bool has_hop_home(topo::folded_hypercube cube) { return cube.size > 2; }

    static constexpr void send_home(schedule& s, topo::folded_hypercube cube, rank_id me) {
        s.round();
        rank_id const corner = cube.corner_of(me);
        if (cube.is_first(me)) {
            rank_id const part = cube.reversed(corner);
            for (rank_id p = cube.first_rank(part); p < cube.first_rank(part + 1); ++p)
                if (p != me) s.send(p, {p, 1});
        }
        rank_id const holder = cube.first_rank(cube.reversed(corner));
        if (holder != me) s.recv(holder, {me, 1});
    }
};
static_assert(reduce_scatter_algorithm<recursive_halving>);

}  // namespace chorus
