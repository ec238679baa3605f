// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/sync/merge.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// Ranks explore around a centre z that all of them hold: w -= (rate / members) (s - z), then z += rate (a - z). The centre moves as far as all ranks together
/// are pulled, so z plus the sum of the ranks' values is kept, whatever the delay.
///
/// state z, one copy, at first this rank's values: begin with equal ones on all ranks | for groups of always the same ranks | a snapshot per exchange under way
/// Zhang, Choromanska, LeCun, EASGD, NeurIPS 2015; the centre on every rank instead of a server.
struct elastic {
    static constexpr std::string_view name = "elastic";
    static constexpr std::size_t kept_copies = 1;
    static constexpr bool sends_first = false;
    static constexpr bool reads_sent = true;
    static constexpr bool keeps_synced = true;

    double rate = 0.9;  ///< how far the centre moves to the average, in [0, 1]

    template <class T> void begin(std::span<T const> first, std::span<T> kept) const { std::copy(first.begin(), first.end(), kept.begin()); }

    template <class T> void merge(arrival<T> const& a) const {
        T const moving = static_cast<T>(rate), pull = static_cast<T>(rate / static_cast<double>(a.members));
        for (std::size_t i = 0; i < a.current.size(); ++i) {
            T const centre = a.kept[i];
            a.current[i] -= pull * (a.sent[i] - centre);
            a.kept[i] = centre + moving * (a.arrived[i] - centre);
        }
    }
    template <class T> void follow(arrival<T> const&, std::span<T>) const {}  // pulls under way stay as they were

    friend bool operator==(elastic const&, elastic const&) = default;
};
static_assert(merge_rule<elastic, float> && beginning_merge<elastic, float>);

}  // namespace chorus
