// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/sync/merge.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace chorus {

/// w = a. Parameters averaged at once: parameter-average BSP, local SGD, DS-Sync. Gradients averaged at once: BSP.
///
/// state none | late: what was done since it was sent is overwritten
struct take_arrived {
    static constexpr std::string_view name = "take_arrived";
    static constexpr std::size_t kept_copies = 0;
    static constexpr bool sends_first = true;
    static constexpr bool reads_sent = false;
    static constexpr bool takes_as_is = true;

    template <class T> void merge(arrival<T> const& a) const {
        if (a.arrived.data() != a.current.data()) std::copy(a.arrived.begin(), a.arrived.end(), a.current.begin());
    }

    friend bool operator==(take_arrived const&, take_arrived const&) = default;
};
static_assert(merge_rule<take_arrived, float> && taking_merge<take_arrived>);

}  // namespace chorus
