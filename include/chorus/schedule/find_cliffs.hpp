// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/automatic.hpp"
#include "chorus/schedule/selection_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// Two sizes between which the time of what is chosen does something that the bytes do not explain.
struct cliff {
    enum class kind {
        falls,   ///< the larger size takes less time than the smaller one
        jumps,   ///< the time grows by a larger factor than the bytes
        beaten   ///< at this one size another algorithm was measured to be faster
    };
    kind what = kind::falls;
    collective operation = collective::all_reduce;
    rank_id ranks = 1;
    std::string transport{};          ///< empty: not told
    std::uint64_t smaller_bytes = 0;
    std::uint64_t larger_bytes = 0;   ///< the same if beaten
    timed_algorithm smaller;          ///< what is chosen at the smaller size; if beaten, what is faster
    timed_algorithm larger;           ///< what is chosen at the larger size
};

inline std::string to_string(cliff const& found) {
    auto told = [](timed_algorithm const& one, std::uint64_t bytes) {
        return std::to_string(bytes) + " bytes take " + detail::microseconds(one.seconds) + " by " +
               one.algorithm.describe();
    };
    std::string const place = std::string{to_string(found.operation)} + " on " + std::to_string(found.ranks) + " ranks" +
                              (found.transport.empty() ? "" : " over " + found.transport);
    std::string const text = place + ": " + told(found.larger, found.larger_bytes);
    if (found.what == cliff::kind::beaten)
        return text + ", but " + detail::microseconds(found.smaller.seconds) + " by " +
               found.smaller.algorithm.describe();
    return text + (found.what == cliff::kind::falls ? ", less than the smaller: " : ", more than the bytes explain: ") +
           told(found.smaller, found.smaller_bytes);
}

namespace detail {

struct chosen_time {
    std::uint64_t bytes = 0;
    timed_algorithm chosen;
};

inline cliff cliff_between(cliff::kind what, algorithm_query const& where, chosen_time const& smaller,
                           chosen_time const& larger) {
    return {what,          where.operation, where.ranks,   std::string{where.transport},
            smaller.bytes, larger.bytes,    smaller.chosen, larger.chosen};
}

/// Looks at sizes in ascending order. Each is held against the slowest of the smaller ones and against its neighbour.
inline void find_cliffs_in(std::vector<chosen_time> const& sizes, algorithm_query const& where, double tolerance,
                           std::vector<cliff>& found) {
    for (std::size_t i = 1, slowest = 0; i < sizes.size(); ++i) {
        chosen_time const& larger = sizes[i];
        chosen_time const& before = sizes[i - 1];
        if (larger.chosen.seconds * (1 + tolerance) < sizes[slowest].chosen.seconds)
            found.push_back(cliff_between(cliff::kind::falls, where, sizes[slowest], larger));
        double const explained = static_cast<double>(larger.bytes) / static_cast<double>(before.bytes);
        if (before.bytes > 0 && larger.chosen.seconds > before.chosen.seconds * explained * (1 + tolerance))
            found.push_back(cliff_between(cliff::kind::jumps, where, before, larger));
        if (larger.chosen.seconds > sizes[slowest].chosen.seconds) slowest = i;
    }
}

}  // namespace detail

/// The cliffs in what `how` expects of its own choices for these sizes, ascending: none, but for rounding, as long as
/// every cost grows linearly with the bytes. `asked.bytes` is ignored.
inline std::vector<cliff> find_cliffs(automatic const& how, algorithm_query asked, std::span<std::uint64_t const> sizes,
                                      double tolerance = 1e-9) {
    std::vector<detail::chosen_time> times;
    for (std::uint64_t bytes : sizes) {
        asked.bytes = bytes;
        choice const chosen = how.choose(asked);
        times.push_back({bytes, {chosen.algorithm, detail::time_in(chosen.times, chosen.algorithm).value_or(0)}});
    }
    std::vector<cliff> found;
    detail::find_cliffs_in(times, asked, tolerance, found);
    return found;
}

/// The cliffs in what was measured of the table's choices, for every collective, transport and number of ranks, and the
/// sizes at which another algorithm was faster. Sizes that no row answers, or whose algorithm was not measured, are
/// left out. `tolerance`: the share by which measurements may be off.
inline std::vector<cliff> find_cliffs(selection_table const& table, double tolerance = 0.1) {
    std::vector<cliff> found;
    std::vector<measured_point> points = table.measurements();
    std::stable_sort(points.begin(), points.end(),
                     [](measured_point const& a, measured_point const& b) { return a.bytes < b.bytes; });
    for (measured_point const& first : table.measurements()) {
        algorithm_query const where{first.operation, first.ranks, first.bytes, first.transport};
        auto const of_series = [&](measured_point const& other) { return other.is_about(where); };
        if (&*std::find_if(table.measurements().begin(), table.measurements().end(), of_series) != &first) continue;
        std::vector<detail::chosen_time> times;
        for (measured_point const& point : points) {
            if (!of_series(point)) continue;
            algorithm_query const here{first.operation, first.ranks, point.bytes, first.transport};
            selection_row const* const row = table.find(here);
            auto const seconds = row ? detail::time_in(point.times, row->algorithm) : std::nullopt;
            if (!seconds) continue;
            times.push_back({point.bytes, {row->algorithm, *seconds}});
            if (point.times.front().seconds * (1 + tolerance) < *seconds)
                found.push_back(
                    detail::cliff_between(cliff::kind::beaten, here, {point.bytes, point.times.front()}, times.back()));
        }
        detail::find_cliffs_in(times, where, tolerance, found);
    }
    return found;
}

}  // namespace chorus
