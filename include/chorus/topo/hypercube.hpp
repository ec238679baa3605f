// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <bit>

namespace chorus::topo {

/// The largest hypercube that `size` >= 1 ranks fill. The first 2 * pairs() ranks stand two at a corner, neighbours
/// 2c and 2c + 1; all others stand alone. Corners number runs of neighbouring ranks in rank order, so folding a pair
/// keeps the order.
struct folded_hypercube {
    rank_id size = 1;

    constexpr rank_id dimensions() const noexcept { return static_cast<rank_id>(std::bit_width(size)) - 1; }
    constexpr rank_id corners() const noexcept { return rank_id{1} << dimensions(); }

    /// Corners with two ranks; 0 if `size` is a power of two.
    constexpr rank_id pairs() const noexcept { return size - corners(); }
    constexpr bool is_paired(rank_id rank) const noexcept { return rank < 2 * pairs(); }

    constexpr rank_id corner_of(rank_id rank) const noexcept { return is_paired(rank) ? rank / 2 : rank - pairs(); }

    /// The first rank at a corner; first_rank(corners()) is `size`.
    constexpr rank_id first_rank(rank_id corner) const noexcept {
        return corner < pairs() ? 2 * corner : corner + pairs();
    }

    /// Whether the rank is the first at its corner: the one that acts for it.
    constexpr bool is_first(rank_id rank) const noexcept { return first_rank(corner_of(rank)) == rank; }

    /// The corner whose bits are this one's, read backwards.
    constexpr rank_id reversed(rank_id corner) const noexcept {
        rank_id mirror = 0;
        for (rank_id bit = 0; bit < dimensions(); ++bit) mirror = mirror << 1 | (corner >> bit & 1);
        return mirror;
    }
};

}  // namespace chorus::topo
