// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/observer.hpp"

#include <string>

namespace chorus {

/// What was done between two looks at a group's counters.
constexpr operation_counters difference(operation_counters const& later, operation_counters const& earlier) noexcept {
    return {later.started - earlier.started, later.finished - earlier.finished, later.failed - earlier.failed,
            later.bytes_sent - earlier.bytes_sent};
}

/// "12 operations started, 11 finished, 0 failed, 4096 bytes sent"
inline std::string describe(operation_counters const& counted) {
    return std::to_string(counted.started) + " operations started, " + std::to_string(counted.finished) + " finished, " +
           std::to_string(counted.failed) + " failed, " + std::to_string(counted.bytes_sent) + " bytes sent";
}

}  // namespace chorus
