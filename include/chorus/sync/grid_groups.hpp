// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/sync/detail/groups.hpp"
#include "chorus/sync/policy.hpp"
#include "chorus/topo/detail/rectangle.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// Ranks stand in a grid of k dimensions, as the digits of their numbers say, and average along one of them at each step.
///
/// widths[0] counts neighbouring ranks. Empty: chosen so that no group has more than `width` ranks. If p is a product of
/// numbers up to `width`, those are the widths, largest first, and k steps give the exact mean. Other p leave the last rows of
/// a grid of equal widths short: groups of fewer ranks, and a contraction above 0, but below 1, since rank 0 is met by all.
/// Width 0: two dimensions as near to a square as p can be cut; primes as the square of ⌈√p⌉ that they do not fill.
/// groups of at most `width`, or of widths[step mod k] | period k | contraction 0 if the widths multiply to p
/// throws `invalid_argument` for width 1, and for widths of 0 or such that multiply to fewer than p
struct grid_groups {
    static constexpr std::string_view name = "grid_groups";
    rank_id width = 0;
    std::vector<rank_id> widths = {};

    membership at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        auto const grid = widths_for(size);
        std::uint64_t stride = 1;  // between neighbours of the dimension
        for (step_id before = 0; before < step % grid.size(); ++before) stride *= grid[before];
        rank_id const along = grid[step % grid.size()];
        std::uint64_t const first = rank - rank / stride % along * stride;
        membership row{};
        for (std::uint64_t member = first; row.members.size() < along && member < size; member += stride)
            row.members.push_back(static_cast<rank_id>(member));
        return row;
    }
    step_id period(rank_id size) const { return widths_for(size).size(); }

    /// The dimensions of the grid for so many ranks; never none.
    std::vector<rank_id> widths_for(rank_id size) const {
        if (widths.empty()) return width == 0 ? square(size) : no_wider(size, width);
        std::uint64_t places = 1;
        for (rank_id const each : widths) {
            detail::expects(each > 0, [] { return "grid_groups: a width is 0"; });
            if (places < size) places *= each;
        }
        detail::expects(places >= size, [&] {
            return "grid_groups: the widths multiply to " + std::to_string(places) + ", too few for " + std::to_string(size) +
                   " ranks";
        });
        return widths;
    }

    friend bool operator==(grid_groups const&, grid_groups const&) = default;

 private:
    static std::vector<rank_id> square(rank_id size) {
        auto const exact = topo::detail::rectangle::of(name, 0, size);
        if (exact.rows > 1) return {exact.columns, exact.rows};
        rank_id side = 1;
        while (std::uint64_t{side} * side < size) ++side;
        return no_wider(size, side < 2 ? 2 : side);
    }

    static std::vector<rank_id> no_wider(rank_id size, rank_id most) {
        detail::expects(most > 1, [] { return "grid_groups: groups of 1 rank never mix, the width is to be 2 or more"; });
        std::vector<rank_id> factors;
        rank_id rest = size;
        for (rank_id factor = (most < size ? most : size); rest > 1 && factor > 1;) {
            if (rest % factor == 0) factors.push_back(factor), rest /= factor;
            else --factor;
        }
        if (rest > 1) {
            factors.clear();
            for (rest = size; rest > 1; rest = rest / most + (rest % most > 0)) factors.push_back(rest < most ? rest : most);
        }
        return factors.empty() ? std::vector<rank_id>{1} : factors;
    }
};
static_assert(sync_policy<grid_groups>);

}  // namespace chorus
