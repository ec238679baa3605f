// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/schedule/any_algorithm.hpp"
#include "chorus/schedule/detail/selection_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

/// Rows that say which algorithm to take, and what was measured to find that out. A value; no two rows answer the same
/// question. Text form: see `write`.
class selection_table {
 public:
    static constexpr std::size_t most_rows = 20000;  ///< of either kind; more are refused

    std::vector<std::string> comments{};  ///< written at the head: machine, date, command
    std::string source = "table";         ///< what messages call it: the file it was read from

    std::vector<selection_row> const& rows() const noexcept { return rows_; }
    std::vector<measured_point> const& measurements() const noexcept { return measurements_; }
    bool is_empty() const noexcept { return rows_.empty() && measurements_.empty(); }

    /// Throws `invalid_argument` if the row overlaps another, or its algorithm does not offer the collective.
    void add(selection_row row) {
        detail::expect_sensible(row);
        for (selection_row const& other : rows_)
            if (row.overlaps(other))
                detail::raise(errc::invalid_argument, "the row \"" + to_string(row) + "\" overlaps \"" +
                                                          to_string(other) + '"' + detail::at_line(other.line));
        detail::expects(rows_.size() < most_rows, [] { return "more than " + std::to_string(most_rows) + " rows"; });
        rows_.push_back(std::move(row));
    }

    /// Sorts its times, the fastest first. Throws `invalid_argument` if the point is there already, an algorithm is in
    /// it twice or does not offer the collective, or a time is not above 0.
    void add(measured_point point) {
        detail::expect_sensible(point);
        for (measured_point const& other : measurements_)
            if (point.is_at(other))
                detail::raise(errc::invalid_argument, "what was measured for " + detail::where_of(point) +
                                                          " is there already" + detail::at_line(other.line));
        detail::expects(measurements_.size() < most_rows,
                        [] { return "more than " + std::to_string(most_rows) + " measurements"; });
        std::stable_sort(point.times.begin(), point.times.end(),
                         [](timed_algorithm const& a, timed_algorithm const& b) { return a.seconds < b.seconds; });
        measurements_.push_back(std::move(point));
    }

    /// Takes over everything of `newer`. What was here for a collective, transport and number of ranks that `newer` has
    /// rows or measurements of is forgotten. Throws `invalid_argument` if what stays overlaps.
    void replace(selection_table const& newer) {
        selection_table merged;
        merged.comments = newer.comments;
        merged.source = source;
        for (selection_row const& row : rows_)
            if (!newer.has_same_place(row)) merged.add(row);
        for (measured_point const& point : measurements_)
            if (!newer.has_measured(point)) merged.add(point);
        for (selection_row const& row : newer.rows_) merged.add(row);
        for (measured_point const& point : newer.measurements_) merged.add(point);
        *this = std::move(merged);
    }

    /// The row that answers, or null. Its algorithm can do what is asked.
    selection_row const* find(algorithm_query const& asked) const {
        for (selection_row const& row : rows_)
            if (row.covers(asked)) return row.algorithm_fits(asked) ? &row : nullptr;
        return nullptr;
    }

    /// What the measured algorithms that can do what is asked take, fastest first: where the size itself was not
    /// measured, on the straight line between the next smaller and the next larger size at which the algorithm was;
    /// below the smallest as much as there; above the largest in proportion to the bytes. Measurements count for their
    /// own transport and number of ranks alone.
    std::vector<timed_algorithm> times_of(algorithm_query const& asked) const {
        std::vector<timed_algorithm> found;
        for (measured_point const& point : measurements_) {
            if (!point.is_about(asked)) continue;
            for (timed_algorithm const& time : point.times) {
                bool const known = std::any_of(found.begin(), found.end(), [&](timed_algorithm const& other) {
                    return other.algorithm == time.algorithm;
                });
                if (!known && detail::fits(time.algorithm, asked))
                    found.push_back({time.algorithm, seconds_of(time.algorithm, asked)});
            }
        }
        std::stable_sort(found.begin(), found.end(),
                         [](timed_algorithm const& a, timed_algorithm const& b) { return a.seconds < b.seconds; });
        return found;
    }

    /// Reads what `write` writes. Throws `invalid_argument` that names the line, what was found and what was expected;
    /// lines of more than 4096 characters, more than `most_rows` rows and parameters above 4096 are refused.
    static selection_table read(std::istream& text, std::string const& source = "table");

    /// The same from a file. Throws `system_failed` if it cannot be read.
    static selection_table load(std::string const& path);

    /// The table as text: comments, the version, a line per row, a line per measured point.
    ///
    ///     chorus-table 1
    ///     all_reduce shm 2 0..4095 recursive_doubling
    ///     all_reduce shm 2 4096..* ring(segments=4)
    ///     measured all_reduce shm 2 4096 3.21 ring(segments=4) | 3.4 recursive_doubling
    ///
    /// Columns: collective, transport (* for any), ranks, bytes of the caller's whole vector on one rank, algorithm as
    /// `algorithm_named` takes it. Ranges include both ends; * is any number, or no upper end. Measured: one number of
    /// ranks, one of bytes, then microseconds and algorithm, fastest first. # begins a comment.
    void write(std::ostream& out) const;

    friend bool operator==(selection_table const& a, selection_table const& b) {
        return a.rows_ == b.rows_ && a.measurements_ == b.measurements_;
    }

 private:
    bool has_same_place(selection_row const& row) const {
        return std::any_of(rows_.begin(), rows_.end(), [&](selection_row const& mine) {
            return mine.operation == row.operation && mine.transport == row.transport &&
                   mine.ranks_from == row.ranks_from && mine.ranks_to == row.ranks_to;
        });
    }
    bool has_measured(measured_point const& point) const {
        return std::any_of(measurements_.begin(), measurements_.end(), [&](measured_point const& mine) {
            return mine.operation == point.operation && mine.transport == point.transport && mine.ranks == point.ranks;
        });
    }

    double seconds_of(any_algorithm const& algorithm, algorithm_query const& asked) const {
        std::optional<detail::sized_time> below;
        std::optional<detail::sized_time> above;
        for (measured_point const& point : measurements_) {
            if (!point.is_about(asked)) continue;
            for (timed_algorithm const& time : point.times) {
                if (!(time.algorithm == algorithm)) continue;
                if (point.bytes <= asked.bytes && (!below || point.bytes > below->bytes))
                    below = {point.bytes, time.seconds};
                if (point.bytes >= asked.bytes && (!above || point.bytes < above->bytes))
                    above = {point.bytes, time.seconds};
            }
        }
        return detail::between(below, above, asked.bytes);
    }

    std::vector<selection_row> rows_;
    std::vector<measured_point> measurements_;
};

inline selection_table selection_table::read(std::istream& text, std::string const& source) {
    selection_table result;
    result.source = source;
    detail::table_lines lines{text, source};
    bool has_version = false;
    while (lines.next()) {
        if (lines.rest().empty()) {
            if (!has_version && !lines.comment().empty()) result.comments.push_back(lines.comment());
        } else if (!has_version) {
            detail::read_version(lines);
            has_version = true;
        } else if (lines.rest().starts_with("measured ")) {
            lines.attempt([&] { result.add(detail::read_point(lines)); });
        } else {
            lines.attempt([&] { result.add(detail::read_row(lines)); });
        }
    }
    if (!has_version) lines.refuse("the end of the text", "\"" + detail::table_version() + "\" on its first line");
    return result;
}

inline selection_table selection_table::load(std::string const& path) {
    return detail::load_text(path, "table of algorithms", [&](std::istream& text) { return read(text, path); });
}

inline void selection_table::write(std::ostream& out) const {
    for (std::string const& comment : comments) out << "# " << detail::printable(comment, 400) << '\n';
    out << detail::table_version() << '\n';
    if (!rows_.empty()) out << "# collective transport ranks bytes algorithm\n";
    for (selection_row const& row : rows_) out << to_string(row) << '\n';
    if (!measurements_.empty()) out << "# measured collective transport ranks bytes microseconds algorithm | …\n";
    for (measured_point const& point : measurements_) out << to_string(point) << '\n';
}

}  // namespace chorus
