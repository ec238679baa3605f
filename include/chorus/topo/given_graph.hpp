// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/detail/graph_text.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::topo {

/// The user's own: one list for each rank, whom it sends to, in any order. All ranks must be given the same lists.
///
/// Throws `invalid_argument`, on every rank alike, unless there is a list for each rank, and for lists that name a rank that
/// does not exist, their own, or one twice; any rank's list, so that nobody goes on alone.
/// period 1 | weights: `metropolis` keeps the mean if edges go both ways, `max_degree` if every rank sends to as many as it
/// hears from, `out_degree` with push-sum always | O(edges) for each call
struct given_graph {
    static constexpr std::string_view name = "given_graph";
    std::vector<std::vector<rank_id>> sends_to = {};

    neighbours at(step_id, rank_id rank, rank_id size) const {
        expect_sound(size);
        detail::expect_rank(name, rank, size);
        neighbours met{detail::neighbour_list(sends_to[rank], rank), {}};
        for (rank_id other = 0; other < size; ++other)
            if (std::find(sends_to[other].begin(), sends_to[other].end(), rank) != sends_to[other].end())
                met.from.push_back(other);
        return met;
    }
    step_id period(rank_id) const { return 1; }

    static constexpr std::string_view set_name = "sends_to";

    /// given_graph(sends_to=1+2/2/0): a list for each rank.
    std::string describe() const {
        std::string lists;
        for (auto const& list : sends_to) lists += '/' + chorus::detail::value_text(list);
        return std::string{name} + (lists.empty() ? "" : "(sends_to=" + lists.substr(1) + ')');
    }
    /// Reads the lists as `describe` writes them; false for other names. Throws `invalid_argument` for what is no list.
    bool set(std::string_view parameter, std::string_view text) {
        if (parameter != set_name) return false;
        sends_to.clear();
        for (std::size_t begin = 0; begin <= text.size();) {
            std::size_t const end = (std::min)(text.find('/', begin), text.size());
            chorus::detail::set_value(sends_to.emplace_back(), parameter, text.substr(begin, end - begin));
            begin = end + 1;
        }
        return true;
    }

    friend bool operator==(given_graph const&, given_graph const&) = default;

 private:
    void expect_sound(rank_id size) const {
        detail::expects(sends_to.size() == size, [&] {
            return "given_graph: lists of " + std::to_string(sends_to.size()) + " ranks for " + std::to_string(size);
        });
        for (rank_id rank = 0; rank < size; ++rank) {
            std::vector<rank_id> list = sends_to[rank];
            std::sort(list.begin(), list.end());
            detail::expect_list(list, name, 0, rank, size);
        }
    }
};
static_assert(graph<given_graph>);

}  // namespace chorus::topo
