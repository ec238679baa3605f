// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "chorus/schedule/any_algorithm.hpp"
#include "chorus/schedule/selection_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {

/// Whether all ranks would do the same. Takes as long as making all schedules.
inline bool does_the_same(any_algorithm const& a, any_algorithm const& b, collective operation, rank_id ranks) {
    for (rank_id me = 0; me < ranks; ++me)
        if (!(a.make(operation, me, ranks) == b.make(operation, me, ranks))) return false;
    return true;
}

/// Texts of algorithms with other parameters than the default ones.
inline std::vector<std::string> varied_texts(rank_id ranks) {
    std::vector<std::string> texts;
    for (char const* segments : {"2", "4", "8"}) texts.push_back(std::string{"ring(segments="} + segments + ')');
    for (char const* name : {"chain", "double_binary_tree"})
        for (char const* segments : {"2", "32"})
            texts.push_back(std::string{name} + "(segments=" + segments + ')');
    texts.push_back("pairwise(in_flight=4)");
    for (rank_id width = 2; width < ranks && width <= 16; width *= 2)
        for (char const* parts : {"inside=direct, between=recursive_doubling", "inside=ring, between=ring"})
            texts.push_back(std::string{"hierarchical("} + parts + ", width=" + std::to_string(width) + ')');
    return texts;
}

}  // namespace detail

/// What is worth measuring for a collective on so many ranks: all listed algorithms that offer it, some with several
/// parameters, and hierarchies of widths 2, 4, 8, 16 below the number of ranks. Up to 64 ranks, of those that do the
/// same on all ranks only the first.
inline std::vector<any_algorithm> tuning_candidates(collective operation, rank_id ranks) {
    std::vector<any_algorithm> found;
    auto add = [&](std::string_view text) {
        any_algorithm const algorithm = algorithm_named(text);
        if (!algorithm.supports(operation)) return;
        for (any_algorithm const& other : found)
            if (ranks <= 64 && detail::does_the_same(algorithm, other, operation, ranks)) return;
        found.push_back(algorithm);
    };
    for (std::string_view name : known_algorithms())
        if (name != "hierarchical") add(name);
    for (std::string const& text : detail::varied_texts(ranks)) add(text);
    return found;
}

/// Rows for what was measured of one collective on one transport and number of ranks, at ascending sizes.
///
/// At each size the fastest is chosen, but the one of the next smaller size is kept as long as it takes no more than
/// `tolerance` longer, so that noise does not make rows. Between two sizes with different choices, each algorithm's
/// time is taken to lie on a straight line, and the row ends where the lines cross. The first row begins at 0, the last
/// one has no end. Throws `invalid_argument` if the points are not of one series in ascending order.
inline std::vector<selection_row> select_rows(std::span<measured_point const> points, double tolerance = 0.02) {
    std::vector<selection_row> rows;
    for (std::size_t i = 0; i < points.size(); ++i) {
        measured_point const& point = points[i];
        detail::expect_sensible(point);
        timed_algorithm const fastest =
            *std::min_element(point.times.begin(), point.times.end(),
                              [](timed_algorithm const& a, timed_algorithm const& b) { return a.seconds < b.seconds; });
        if (i > 0) {
            measured_point const& before = points[i - 1];
            detail::expects(before.operation == point.operation && before.transport == point.transport &&
                                before.ranks == point.ranks && before.bytes < point.bytes,
                            [] { return "measured sizes must be of one series, in ascending order"; });
            auto const kept = detail::time_in(point.times, rows.back().algorithm);
            if (kept && *kept <= fastest.seconds * (1 + tolerance)) continue;
            rows.back().bytes_to = detail::crossing(before, point, rows.back().algorithm, fastest.algorithm);
        }
        rows.push_back({point.operation, point.transport, point.ranks, point.ranks,
                        rows.empty() ? 0 : rows.back().bytes_to + 1, selection_row::any_bytes, fastest.algorithm});
    }
    return rows;
}

}  // namespace chorus
