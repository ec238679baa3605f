// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/sync/detail/meetings.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace chorus::detail {

/// One step's exchange of all buckets.
template <transport Transport>
struct sync_exchange {
    step_id step = 0;
    rank_id members = 1;
    plan_set* plans = nullptr;  ///< none: everything has arrived
    std::size_t slot = 0;
    bool is_under_way = false;  ///< to be merged at a later step
    std::vector<char> is_sent;  ///< by bucket
};

/// Memory of one exchange: what is averaged, in place, and what this rank had when it was sent.
template <class T>
struct sync_slot {
    std::vector<T> message, sent;
};

/// Spans of slots by bucket and tensor.
template <class T>
std::span<T> part_of(std::vector<T>& memory, std::size_t begin, std::size_t count) noexcept {
    return std::span<T>{memory}.subspan(begin, count);
}

}  // namespace chorus::detail
