// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/sync/merge.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// For gradients that arrive one or more steps late: g = the average of those of `delay` steps ago; zeros as long as none has arrived, so no update is made.
/// Delay K - 1 is pipeline width K: 0 is synchronous.
///
/// state none | for policies whose groups meet at each step | Li et al., "Pipe-SGD", NeurIPS 2018
struct stale_gradient {
    static constexpr std::string_view name = "stale_gradient";
    static constexpr std::size_t kept_copies = 0;
    static constexpr bool sends_first = true;
    static constexpr bool reads_sent = false;
    static constexpr bool takes_as_is = true;

    template <class T> void merge(arrival<T> const& a) const {
        if (a.arrived.data() != a.current.data()) std::copy(a.arrived.begin(), a.arrived.end(), a.current.begin());
    }
    template <class T> void await(std::span<T> current) const { std::fill(current.begin(), current.end(), T{}); }

    friend bool operator==(stale_gradient const&, stale_gradient const&) = default;
};
static_assert(merge_rule<stale_gradient, float> && awaiting_merge<stale_gradient, float>);

}  // namespace chorus
