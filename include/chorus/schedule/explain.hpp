// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/automatic.hpp"

#include <string>

namespace chorus {

/// What would be chosen and why, on some lines: the row or the model that decided, the time of what is chosen, that of
/// the next best, and of all others that were looked at, fastest first. Pure. Throws as `automatic::choose`.
inline std::string explain(automatic const& how, algorithm_query const& asked) {
    choice const chosen = how.choose(asked);
    std::string text = std::string{to_string(asked.operation)} + " of " + std::to_string(asked.bytes) + " bytes on " +
                       std::to_string(asked.ranks) + (asked.ranks == 1 ? " rank" : " ranks");
    if (!asked.transport.empty()) text += " over " + std::string{asked.transport};
    if (asked.cores > 0) text += ", in turns on " + std::to_string(asked.cores) + (asked.cores == 1 ? " core" : " cores");
    if (asked.needs_order) text += ", in the order of ranks";
    if (asked.uneven) text += ", blocks of unequal length";
    text += "\n  chosen    " + chosen.algorithm.describe();
    text += "\n  decided   by ";
    if (chosen.row) {
        text += how.table->source;
        if (chosen.row->line > 0) text += " line " + std::to_string(chosen.row->line);
        text += ": " + to_string(*chosen.row);
    } else {
        text += how.table ? "the cost model: no row of " + how.table->source + " answers" : "the cost model";
    }
    char const* const verb = chosen.is_measured ? "measured  " : "expected  ";
    text += std::string{"\n  "} + verb + detail::compared(chosen.algorithm, chosen.times);
    std::string others;
    for (timed_algorithm const& other : chosen.times)
        if (!(other.algorithm == chosen.algorithm))
            others += "\n            " + detail::microseconds(other.seconds) + "  " + other.algorithm.describe();
    if (!others.empty()) text += "\n  others  " + others.substr(11);
    return text + '\n';
}

}  // namespace chorus
