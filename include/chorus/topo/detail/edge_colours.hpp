// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace chorus::topo::detail {

/// Colours for the edges of a graph that go both ways, so that no rank has two edges of one colour: each colour is a matching.
///
/// at most one colour more than the largest degree | O(edges * (ranks + degree²)) | depends on nothing but the lists
/// J. Misra, D. Gries, "A constructive proof of Vizing's theorem" (Information Processing Letters, 1992)
class edge_colours {
 public:
    /// For each rank those it is joined with.
    explicit edge_colours(std::vector<std::vector<rank_id>> const& joined) {
        for (auto const& list : joined) colours_ = (std::max)(colours_, list.size() + 1);
        met_.assign(joined.size() * colours_, nobody);
        for (rank_id u = 0; u < joined.size(); ++u)
            for (rank_id const v : joined[u])
                if (u < v) add(u, v);
    }

    std::size_t colours() const noexcept { return colours_; }

    /// Whom the edge of this colour joins the rank with, or nobody.
    rank_id met(rank_id rank, std::size_t colour) const noexcept { return met_[rank * colours_ + colour]; }

 private:
    rank_id& end_of(rank_id rank, std::size_t colour) noexcept { return met_[rank * colours_ + colour]; }
    bool is_free(rank_id rank, std::size_t colour) const noexcept { return met(rank, colour) == nobody; }

    std::size_t free_colour(rank_id rank) const noexcept {
        std::size_t colour = 0;
        while (!is_free(rank, colour)) ++colour;
        return colour;
    }

    void paint(rank_id u, rank_id v, std::size_t colour) noexcept {
        end_of(u, colour) = v;
        end_of(v, colour) = u;
    }
    void wipe(rank_id u, rank_id v, std::size_t colour) noexcept { end_of(u, colour) = end_of(v, colour) = nobody; }

    void add(rank_id u, rank_id v) {
        std::vector<rank_id> const fan = fan_of(u, v);
        std::size_t const wanted = free_colour(fan.back());
        swap_along(u, wanted, free_colour(u));
        std::size_t last = 0;
        while (!is_free(fan[last], wanted)) ++last;
        // The swap may have changed the colour of one edge of the fan, behind `last` unless `last` is the end of its path.
        std::vector<std::size_t> moved;
        for (std::size_t i = 1; i <= last; ++i) moved.push_back(colour_between(u, fan[i]));
        for (std::size_t i = 1; i <= last; ++i) wipe(u, fan[i], moved[i - 1]);
        for (std::size_t i = 1; i <= last; ++i) paint(u, fan[i - 1], moved[i - 1]);
        paint(u, fan[last], wanted);
    }

    std::size_t colour_between(rank_id u, rank_id v) const noexcept {
        std::size_t colour = 0;
        while (met(u, colour) != v) ++colour;
        return colour;
    }

    /// Ends of edges of u, beginning with v: the colour of each edge is free at the end before. As long as can be.
    std::vector<rank_id> fan_of(rank_id u, rank_id v) const {
        std::vector<rank_id> fan{v};
        for (std::size_t colour = 0; colour < colours_; ++colour) {
            rank_id const next = met(u, colour);
            if (next == nobody || !is_free(fan.back(), colour) || std::find(fan.begin(), fan.end(), next) != fan.end()) continue;
            fan.push_back(next);
            colour = static_cast<std::size_t>(-1);  // from the first one again
        }
        return fan;
    }

    /// Swaps two colours along the path of them that begins at u with `first`; `second` is free at u.
    void swap_along(rank_id u, std::size_t first, std::size_t second) {
        if (first == second) return;
        std::vector<rank_id> path{u};
        for (std::size_t colour = first; met(path.back(), colour) != nobody; colour = colour == first ? second : first) path.push_back(met(path.back(), colour));
        for (std::size_t i = 0; i + 1 < path.size(); ++i) wipe(path[i], path[i + 1], i % 2 == 0 ? first : second);
        for (std::size_t i = 0; i + 1 < path.size(); ++i) paint(path[i], path[i + 1], i % 2 == 0 ? second : first);
    }

    std::size_t colours_ = 1;
    std::vector<rank_id> met_;  // rank by rank
};

}  // namespace chorus::topo::detail
