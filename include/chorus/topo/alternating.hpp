// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/any_graph.hpp"
#include "chorus/topo/graph.hpp"

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace chorus::topo {

/// Several graphs in turn, one at each step. A graph that changes itself goes on where it was when its turn comes: with n
/// graphs, step t is step t / n of graph t % n. Throws `invalid_argument` if there is none.
///
/// period n times the least common multiple of theirs; none if one of them has none
struct alternating {
    static constexpr std::string_view name = "alternating";
    std::vector<any_graph> graphs = {};

    neighbours at(step_id step, rank_id rank, rank_id size) const {
        return one_of(step).at(step / graphs.size(), rank, size);
    }
    step_id period(rank_id size) const {
        step_id common = one_of(0).period(size);
        for (any_graph const& each : graphs) common = std::lcm(common, each.period(size));
        return common * graphs.size();
    }

    std::string describe() const {
        std::string parts;
        for (any_graph const& each : graphs) parts += (parts.empty() ? "(" : ", ") + each.describe();
        return std::string{name} + (parts.empty() ? "" : parts + ')');
    }

    friend bool operator==(alternating const&, alternating const&) = default;

 private:
    any_graph const& one_of(step_id step) const {
        detail::expects(!graphs.empty(), [] { return "alternating: there is no graph to take turns"; });
        return graphs[step % graphs.size()];
    }
};
static_assert(graph<alternating>);

}  // namespace chorus::topo
