// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "carried_facts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Per-iteration numbers of one half of a row (-I): microseconds and percent.
struct nccl_iterations {
    double least = 0;
    double most = 0;
    double p50 = 0;
    double p95 = 0;
    double p99 = 0;
    double deviation = 0;
    double variation = 0;  ///< coefficient of variation in percent
};

/// One half of a row, out of place or in place.
struct nccl_half {
    double microseconds = 0;
    double algorithm = 0;                 ///< GB/s, 1 GB = 10^9 bytes
    double bus = 0;
    std::optional<std::uint64_t> wrong{}; ///< none: not checked
    std::optional<nccl_iterations> iterations{};
    std::optional<carried_facts> carried;
};

struct nccl_row {
    std::uint64_t size = 0;
    std::uint64_t count = 0;
    std::string type{};
    std::string operation = "none";
    int root = -1;
    std::array<nccl_half, 2> halves{};
    std::string stamp{};                  ///< -S
};

namespace detail {

inline std::string in_width(std::string_view text, std::size_t width) {
    return text.size() >= width ? std::string{text} : std::string(width - text.size(), ' ') + std::string{text};
}

}  // namespace detail

/// A number that is not negative in so many columns: with two decimals if they fit, else one, none, and last as a power of
/// ten.
inline std::string nccl_number(double value, std::size_t width) {
    char text[400] = "";
    for (int decimals : {2, 1, 0}) {
        std::snprintf(text, sizeof text, "%.*f", decimals, value);
        if (std::string_view{text}.size() <= width) return detail::in_width(text, width);
    }
    for (int decimals : {2, 1, 0}) {
        std::snprintf(text, sizeof text, "%.*e", decimals, value);
        if (std::string_view{text}.size() <= width) break;
    }
    return detail::in_width(text, width);
}

/// Three lines: the halves, the columns, their units.
inline std::string nccl_heading(bool per_iteration, bool stamped) {
    using detail::in_width;
    std::string const left(50, ' ');
    std::string halves = "# " + left;
    std::string names = "# " + in_width("size", 10) + "  " + in_width("count", 12) + "  " + in_width("type", 8) + "  " +
                        in_width("redop", 6) + "  " + in_width("root", 6);
    std::string units = "# " + in_width("(B)", 10) + "  " + in_width("(elements)", 12) + std::string(26, ' ');
    for (std::string_view half : {"out-of-place", "in-place"}) {
        std::size_t const width = per_iteration ? 69 : 33;
        std::string centred((width - half.size() + 1) / 2, ' ');
        centred += half;
        centred.resize(width, ' ');
        halves += centred;
        names += "     time   algbw   busbw  #wrong";
        units += "     (us)  (GB/s)  (GB/s)        ";
        if (!per_iteration) continue;
        names += "    i_min    i_max    i_p99    i_cv%";
        units += "     (us)     (us)     (us)         ";
    }
    if (stamped) names += "  " + in_width("timestamp", 21);
    return halves + '\n' + names + '\n' + units + '\n';
}

inline std::string nccl_line(nccl_row const& row) {
    using detail::in_width;
    std::string text = in_width(std::to_string(row.size), 12) + "  " + in_width(std::to_string(row.count), 12) + "  " +
                       in_width(row.type, 8) + "  " + in_width(row.operation, 6) + "  " +
                       in_width(std::to_string(row.root), 6);
    for (nccl_half const& half : row.halves) {
        text += "  " + nccl_number(half.microseconds, 7) + "  " + nccl_number(half.algorithm, 6) + "  " +
                nccl_number(half.bus, 6) + "  " + in_width(half.wrong ? std::to_string(*half.wrong) : "N/A", 6);
        if (!half.iterations) continue;
        for (double value : {half.iterations->least, half.iterations->most, half.iterations->p99, half.iterations->variation})
            text += "  " + nccl_number(value, 7);
    }
    if (!row.stamp.empty()) text += "  " + in_width(row.stamp, 21);
    return text + '\n';
}

/// `reached`: whether the floor of the mean bus bandwidth was, if there is one.
inline std::string nccl_footer(std::string_view program, std::uint64_t wrong, double average_bus, std::optional<bool> reached) {
    char average[64] = "";
    std::snprintf(average, sizeof average, "%g", average_bus);
    return "# Out of bounds values : " + std::to_string(wrong) + (wrong == 0 ? " OK" : " FAILED") +
           "\n# Avg bus bandwidth    : " + average + (!reached ? " " : *reached ? " OK" : " FAILED") +
           "\n#\n# Collective test concluded: " + std::string{program} + "\n#\n";
}

}  // namespace bench
