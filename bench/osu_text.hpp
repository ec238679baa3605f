// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What OSU 7 prints, to the column. The first field is 10 wide, to the left; the others are 18 wide, to the right, the
/// number of iterations 12; without a size the first number has the width of its heading. Times with two decimals.
struct osu_columns {
    bool has_size = true;          ///< not for a barrier
    bool overlaps = false;         ///< a non-blocking collective
    bool is_bandwidth = false;
    bool is_full = false;          ///< -f
    bool is_checked = false;       ///< -c
    std::vector<unsigned> percentiles{};  ///< -z
};

/// The numbers of a row, in microseconds (of a bandwidth: 10^6 bytes per second).
struct osu_row {
    std::uint64_t size = 0;
    double average = 0;            ///< overlapping: overall
    double minimum = 0;
    double maximum = 0;
    std::uint64_t iterations = 0;
    double compute = 0;            ///< from here on: overlapping only
    double start = 0;
    double test = 0;
    double wait = 0;
    double pure = 0;
    double overlap = 0;            ///< percent
    bool is_right = true;
    std::vector<double> percentiles{};
};

namespace detail {

inline std::string right(std::string_view text, std::size_t width) {
    return text.size() >= width ? std::string{text} : std::string(width - text.size(), ' ') + std::string{text};
}
inline std::string right(double value, std::size_t width) {
    char text[64] = "";
    std::snprintf(text, sizeof text, "%.2f", value);
    return right(text, width);
}
inline constexpr std::size_t osu_width = 18;

}  // namespace detail

/// "# OSU MPI Allreduce Latency Test v7.4" after an empty line; an overlapping one has a legend and an empty line more.
inline std::string osu_title(std::string_view title, bool overlaps) {
    std::string text = "\n# OSU MPI " + std::string{title} + " Test v7.4\n";
    if (overlaps) text += "# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n";
    return text;
}

inline std::string osu_heading(osu_columns const& columns) {
    using detail::right;
    std::size_t const width = detail::osu_width;
    std::string_view const first =
        columns.is_bandwidth ? "Bandwidth (MB/s)" : columns.overlaps ? "Overall(us)" : "Avg Latency(us)";
    std::string text = columns.has_size ? "# Size    " + right(first, width) : "# " + std::string{first};
    if (columns.overlaps) {
        text += right("Compute(us)", width);
        if (columns.is_full)
            text += right("Coll. Init(us)", width) + right("MPI_Test(us)", width) + right("MPI_Wait(us)", width);
        text += right("Pure Comm.(us)", width);
        if (columns.is_full) text += right("Min Comm.(us)", width) + right("Max Comm.(us)", width);
        text += right("Overlap(%)", width);
    } else if (columns.is_full) {
        text += right("Min Latency(us)", width) + right("Max Latency(us)", width) + right("Iterations", 12);
    }
    if (columns.is_checked) text += right("Validation", width);
    for (unsigned p : columns.percentiles)
        text += right('P' + std::to_string(p) + (columns.is_bandwidth ? " Tail BW(MB/s)" : " Tail Lat(us)"), width);
    return text + '\n';
}

inline std::string osu_line(osu_columns const& columns, osu_row const& row) {
    using detail::right;
    std::size_t const width = detail::osu_width;
    std::string text;
    if (columns.has_size) {
        text = std::to_string(row.size);
        if (text.size() < 10) text.resize(10, ' ');
        text += right(row.average, width);
    } else {
        text = right(row.average, columns.overlaps ? 13 : 17);
    }
    if (columns.overlaps) {
        text += right(row.compute, width);
        if (columns.is_full) text += right(row.start, width) + right(row.test, width) + right(row.wait, width);
        text += right(row.pure, width);
        if (columns.is_full) text += right(row.minimum, width) + right(row.maximum, width);
        text += right(row.overlap, width);
    } else if (columns.is_full) {
        text += right(row.minimum, width) + right(row.maximum, width) + right(std::to_string(row.iterations), 12);
    }
    if (columns.is_checked) text += right(row.is_right ? "Pass" : "Fail", width);
    for (double p : row.percentiles) text += right(p, width);
    return text + '\n';
}

}  // namespace bench
