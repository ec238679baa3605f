// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/time_limit.hpp"
#include "chorus/base/types.hpp"
#include "chorus/schedule/any_algorithm.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace chorus {

/// What a mean is divided by once some members have joined, that is, have no steps of their own left.
enum class join_divisor : std::uint8_t {
    active,  ///< the members that are still active: the mean of what there is
    all      ///< all members, as if those that have joined sent zeros
};

/// What a synchroniser may be told; equal on all ranks.
struct synchroniser_options {
    step_id delay = 0;                         ///< steps between sending and merging
    step_id warm_up = 0;                       ///< so many first steps are averaged at once whatever the delay
    std::size_t bucket_bytes = 1 << 20;        ///< smaller tensors travel together up to so many bytes; 0: each alone
    std::optional<any_algorithm> algorithm{};  ///< of the all-reduces; none: chosen by size
    time_limit deadline{};                     ///< of each exchange; for ever: the group's
    bool joins = false;                        ///< `join` may be called; costs an all-gather of a byte per rank before each step's exchanges
    join_divisor divisor = join_divisor::active;
};

/// What one step came to on this rank.
struct sync_report {
    step_id step = 0;              ///< counted from 0
    rank_id members = 1;           ///< ranks in this step's group; 1: nothing was sent
    std::uint64_t bytes_sent = 0;  ///< payload of the exchanges begun in this step
    bool has_merged = false;       ///< whether an average was merged

    friend bool operator==(sync_report const&, sync_report const&) = default;
};

/// What a synchroniser has done on this rank.
struct sync_totals {
    step_id steps = 0;
    std::uint64_t exchanges = 0;   ///< steps that averaged with others
    std::uint64_t merges = 0;      ///< averages merged
    std::uint64_t bytes_sent = 0;  ///< payload
    std::size_t groups = 0;        ///< kept with their plans

    friend bool operator==(sync_totals const&, sync_totals const&) = default;
};

}  // namespace chorus
