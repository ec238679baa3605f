// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace chorus::detail {

/// Every so many local updates: after number every, 2 every, … of them, and `offset` later. Steps count from 0, so these are
/// the steps every - 1, 2 every - 1, …; with an offset of 1 the steps 0, every, 2 every, …
struct cadence {
    step_id every;
    step_id offset;

    /// Throws `invalid_argument` unless every > 0 and offset < every.
    void expect_sound(std::string_view policy) const {
        expects(every > 0, [&] { return std::string{policy} + ": averaging after every 0 steps is asked for"; });
        expects(offset < every, [&] {
            return std::string{policy} + ": the offset " + std::to_string(offset) + " is not below the " + std::to_string(every) +
                   " steps between two averages";
        });
    }

    /// The number of the average that falls on this step, from 0; nothing if none does.
    std::optional<step_id> round_at(step_id step) const {
        if (step % every != (every - 1 + offset) % every) return std::nullopt;
        return step / every;
    }
};

/// A period that is the same for all sizes: a number, which may be asked with a size as `period(size)` of a policy is.
struct fixed_period {
    step_id steps = 1;

    constexpr fixed_period(step_id count = 1) noexcept : steps{count} {}
    constexpr operator step_id() const noexcept { return steps; }
    constexpr step_id operator()(rank_id) const noexcept { return steps; }
};

}  // namespace chorus::detail
