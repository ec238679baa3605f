// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/detail/graph_text.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/graph.hpp"
#include "chorus/topo/layout.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::topo {

/// Everybody within a host, and one rank of each host, another at each step, with those of two other hosts: the ones before
/// and after it at distance 1, 2, 4, … in turn, around the end.
///
/// `places` says who sits where; without it hosts are runs of `width` ranks, the last one perhaps shorter. Throws
/// `invalid_argument`, on every rank alike, for a layout of another size and for width 0.
/// degree h - 1 in a host of h ranks, up to 2 more for the one that speaks for it | edges go both ways
/// period: the least common multiple of the largest host's ranks and the number of distances | from each host go at most two
/// messages at each step, and as many to it
struct inner_outer {
    static constexpr std::string_view name = "inner_outer";
    rank_id width = 4;
    std::optional<layout> places = std::nullopt;

    neighbours at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        layout const on = layout_of(size);
        rank_id const host = on.host_of(rank);
        rank_id const distance = rank_id{1} << step % distances(on);
        auto const speaker = [&](rank_id which) {
            auto const ranks = on.ranks_of(which);
            return ranks[static_cast<std::size_t>(step % longest(on) % ranks.size())];
        };
        auto const inside = on.ranks_of(host);
        std::vector<rank_id> ranks{inside.begin(), inside.end()};
        if (speaker(host) == rank) {
            ranks.push_back(speaker((host + distance) % on.hosts()));
            ranks.push_back(speaker((host + on.hosts() - distance) % on.hosts()));
        }
        return detail::both_ways(std::move(ranks), rank);
    }
    step_id period(rank_id size) const {
        layout const on = layout_of(size);
        return std::lcm(longest(on), distances(on));
    }

    static constexpr std::string_view set_name = "hosts";

    /// inner_outer(width=2) or inner_outer(hosts=0+0+1+1): the host of each rank.
    std::string describe() const {
        if (!places) return std::string{name} + (width == 4 ? "" : "(width=" + std::to_string(width) + ')');
        std::vector<rank_id> host_of;
        for (rank_id rank = 0; rank < places->size(); ++rank) host_of.push_back(places->host_of(rank));
        return std::string{name} + "(hosts=" + chorus::detail::value_text(host_of) + ')';
    }
    /// Reads hosts as `describe` writes them; false for other names. Throws `invalid_argument` for what is no list.
    bool set(std::string_view parameter, std::string_view text) {
        if (parameter != set_name) return false;
        std::vector<rank_id> host_of;
        chorus::detail::set_value(host_of, parameter, text);
        places.emplace(host_of);
        return true;
    }

    friend bool operator==(inner_outer const&, inner_outer const&) = default;

 private:
    layout layout_of(rank_id size) const {
        if (!places) return layout::blocks(size, width);
        detail::expects(places->size() == size, [&] {
            return "inner_outer: a layout of " + std::to_string(places->size()) + " ranks for " + std::to_string(size);
        });
        return *places;
    }
    static step_id longest(layout const& on) {
        auto const sizes = on.sizes();
        return *std::max_element(sizes.begin(), sizes.end());
    }
    /// How many powers of two are below the number of hosts; 1 for a single host, which has no others at any distance.
    static step_id distances(layout const& on) { return on.hosts() > 2 ? static_cast<step_id>(std::bit_width(on.hosts() - 1)) : 1; }
};
static_assert(graph<inner_outer>);

}  // namespace chorus::topo
