// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/sync/merge.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// w = (1 - f) w + f a: a share f of the way to the average. 1 takes it; ½ between two ranks leaves three quarters of each.
///
/// state none | late: goes part of the way to where the members were | Jin et al., arXiv 1611.04581 (f = ½ towards a peer's values)
struct half_way {
    static constexpr std::string_view name = "half_way";
    static constexpr std::size_t kept_copies = 0;
    static constexpr bool sends_first = false;
    static constexpr bool reads_sent = false;

    double share = 0.5;  ///< f, in [0, 1]

    template <class T> void merge(arrival<T> const& a) const {
        T const to = static_cast<T>(share), from = T{1} - to;
        for (std::size_t i = 0; i < a.current.size(); ++i) a.current[i] = from * a.current[i] + to * a.arrived[i];
    }

    template <class T> void follow(arrival<T> const&, std::span<T>) const {}  // what is under way stays: each arrival only shrinks differences

    friend bool operator==(half_way const&, half_way const&) = default;
};
static_assert(merge_rule<half_way, float>);

}  // namespace chorus
