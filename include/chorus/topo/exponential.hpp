// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/topo/detail/neighbour_list.hpp"
#include "chorus/topo/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::topo {

/// Each rank sends to the ranks at distances 1, b, b², … below p after it, around the end, and hears from those before it.
///
/// `peers` 0: at all distances; otherwise at so many of them, the next ones at each step. `is_directed` false: both ways.
/// Throws `invalid_argument`, on every rank alike, for a base below 2 and for more peers than there are distances.
/// degree ⌈log_b p⌉, or `peers`; about twice that if both ways | all ranks have one degree
/// period 1, or after how many steps `peers` come around | contraction (d - 1) / (d + 1), b = 2, p = 2^d, directed
/// M. Assran, N. Loizou, N. Ballas, M. Rabbat, "Stochastic gradient push" (2019); B. Ying, K. Yuan, Y. Chen, H. Hu, P. Pan,
/// W. Yin, "Exponential graph is provably efficient for decentralized deep training" (2021)
struct exponential {
    static constexpr std::string_view name = "exponential";
    rank_id base = 2;
    rank_id peers = 0;
    bool is_directed = true;

    neighbours at(step_id step, rank_id rank, rank_id size) const {
        detail::expect_rank(name, rank, size);
        std::vector<rank_id> const all = distances(size);
        std::size_t const chosen = peers == 0 ? all.size() : peers;
        std::vector<rank_id> after, before;
        for (std::size_t k = 0; k < chosen && size > 1; ++k) {
            std::uint64_t const distance = all[(step % period(size) * chosen + k) % all.size()];
            after.push_back(static_cast<rank_id>((rank + distance) % size));
            before.push_back(static_cast<rank_id>((rank + size - distance) % size));
        }
        if (is_directed) return {detail::neighbour_list(std::move(after), rank), detail::neighbour_list(std::move(before), rank)};
        after.insert(after.end(), before.begin(), before.end());
        return detail::both_ways(std::move(after), rank);
    }
    step_id period(rank_id size) const {
        std::size_t const count = distances(size).size();
        return peers == 0 || count == 0 ? 1 : count / std::gcd(count, std::size_t{peers});
    }

    /// The powers of the base below `size`.
    std::vector<rank_id> distances(rank_id size) const {
        detail::expects(base > 1, [&] { return "exponential: the base must be 2 or more, not " + std::to_string(base); });
        std::vector<rank_id> all;
        for (std::uint64_t power = 1; power < size; power *= base) all.push_back(static_cast<rank_id>(power));
        detail::expects(size < 2 || peers <= all.size(), [&] {
            return "exponential: " + std::to_string(peers) + " peers at each step, but " + std::to_string(size) +
                   " ranks have only " + std::to_string(all.size()) + " distances";
        });
        return all;
    }

    friend bool operator==(exponential const&, exponential const&) = default;
};
static_assert(graph<exponential>);

}  // namespace chorus::topo
