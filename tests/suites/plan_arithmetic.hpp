// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/blocks.hpp"
#include "chorus/schedule/schedule.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace chorus::testing {

/// Elements in a range of data or input blocks; fails where the range leaves the vector.
inline std::uint64_t elements(block_range range, blocks const& cut) {
    REQUIRE(range.where != space::scratch);
    REQUIRE(range.count > 0);
    REQUIRE(range.first < cut.parts());
    REQUIRE(range.count <= cut.parts() - range.first);
    std::uint64_t const many = cut.length(range.first, range.count);
    REQUIRE(many <= cut.count());
    return many;
}

struct traffic {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    rank_id rounds = 0;  ///< with a message

    friend bool operator==(traffic, traffic) = default;
};

/// What one rank's schedule moves when its blocks are those of `cut`. Not for schedules that send or receive scratch.
inline traffic moved(schedule const& s, blocks const& cut) {
    REQUIRE(s.blocks() == cut.parts());
    traffic sum;
    for (std::uint32_t r = 0; r < s.rounds(); ++r) {
        bool any = false;
        for (std::uint32_t i = s.round_begin(r); i < s.round_begin(r + 1); ++i) {
            step const& next = s.steps()[i];
            if (is_local(next.kind)) continue;
            any = true;
            (next.kind == step_kind::send ? sum.sent : sum.received) += elements(next.local, cut);
        }
        if (any) ++sum.rounds;
    }
    return sum;
}

}  // namespace chorus::testing
