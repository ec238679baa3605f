// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/sync/merge.hpp"

#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// w = a + (w - s): the average of what was sent, and all that was done since. Every merge keeps the mean over the ranks that averaged: the mean makes
/// every local step at once, only differences between ranks are late.
///
/// state none; a snapshot per exchange under way | merged before this step's values are sent | several under way: each arrival moves what was sent later by
/// a - s, too, else differences that were averaged away twice would swing undamped | no delay: w = a
/// Zhou & Pu, OLDSGD, arXiv 2601.01493 (one exchange under way, any mixing); following is this library's own.
struct keep_progress {
    static constexpr std::string_view name = "keep_progress";
    static constexpr std::size_t kept_copies = 0;
    static constexpr bool sends_first = false;
    static constexpr bool reads_sent = true;

    template <class T> void merge(arrival<T> const& a) const {
        for (std::size_t i = 0; i < a.current.size(); ++i) a.current[i] = a.arrived[i] + (a.current[i] - a.sent[i]);
    }
    template <class T> void follow(arrival<T> const& a, std::span<T> later) const {
        for (std::size_t i = 0; i < later.size(); ++i) later[i] = a.arrived[i] + (later[i] - a.sent[i]);
    }

    friend bool operator==(keep_progress const&, keep_progress const&) = default;
};
static_assert(merge_rule<keep_progress, float> && following_merge<keep_progress, float>);

}  // namespace chorus
