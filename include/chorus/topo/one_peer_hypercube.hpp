// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/graph.hpp"

#include <bit>
#include <string_view>

namespace chorus::topo {

/// Pairs of ranks whose numbers differ in one bit, the next bit at each step; who has no such partner keeps what it has.
///
/// degree 1, or 0 for some if p is no power of two | period ⌈log2 p⌉ | edges go both ways
/// the exact mean after log2 p steps if p is a power of two
struct one_peer_hypercube {
    static constexpr std::string_view name = "one_peer_hypercube";

    neighbours at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        rank_id const partner = rank ^ (rank_id{1} << step % period(size));
        if (partner >= size) return {};
        return {{partner}, {partner}};
    }
    step_id period(rank_id size) const { return size > 2 ? static_cast<step_id>(std::bit_width(size - 1)) : 1; }

    friend bool operator==(one_peer_hypercube const&, one_peer_hypercube const&) = default;
};
static_assert(graph<one_peer_hypercube>);

}  // namespace chorus::topo
