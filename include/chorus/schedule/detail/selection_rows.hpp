// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/schedule/any_algorithm.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// What is to be decided: which algorithm for a collective of so many bytes (of the caller's whole vector on one rank)
/// on so many ranks.
struct algorithm_query {
    collective operation = collective::all_reduce;
    rank_id ranks = 1;
    std::uint64_t bytes = 0;
    std::string_view transport{};  ///< its `kind()`; empty: not known
    bool needs_order = false;      ///< the operation does not commute
    bool uneven = false;           ///< blocks of an all-to-all differ in length
    rank_id cores = 0;             ///< fewer than ranks, which take turns on them; 0: each rank has one of its own
};

namespace detail {

/// Whether the algorithm can do what is asked.
inline bool fits(any_algorithm const& algorithm, algorithm_query const& asked) {
    return algorithm.supports(asked.operation) &&
           (!asked.needs_order || !has_reduction(asked.operation) || algorithm.keeps_order()) &&
           (!asked.uneven || asked.operation != collective::all_to_all || algorithm.takes_uneven());
}

}  // namespace detail

/// One row of a table: which algorithm to take for a collective over a transport, in a range of ranks and one of bytes.
/// Ranges include both ends.
struct selection_row {
    static constexpr rank_id any_ranks = (std::numeric_limits<rank_id>::max)();
    static constexpr std::uint64_t any_bytes = (std::numeric_limits<std::uint64_t>::max)();

    collective operation = collective::all_reduce;
    std::string transport = "*";   ///< `kind()` of the transport; *: any
    rank_id ranks_from = 1;
    rank_id ranks_to = any_ranks;
    std::uint64_t bytes_from = 0;
    std::uint64_t bytes_to = any_bytes;
    any_algorithm algorithm;
    std::uint32_t line = 0;        ///< of the text it was read from; 0: none

    bool covers(algorithm_query const& asked) const {
        return asked.operation == operation && (transport == "*" || transport == asked.transport) &&
               asked.ranks >= ranks_from && asked.ranks <= ranks_to && asked.bytes >= bytes_from &&
               asked.bytes <= bytes_to;
    }
    bool algorithm_fits(algorithm_query const& asked) const { return detail::fits(algorithm, asked); }

    /// Whether both would answer some question.
    bool overlaps(selection_row const& other) const {
        bool const same_way = transport == "*" || other.transport == "*" || transport == other.transport;
        return operation == other.operation && same_way && ranks_from <= other.ranks_to &&
               other.ranks_from <= ranks_to && bytes_from <= other.bytes_to && other.bytes_from <= bytes_to;
    }

    friend bool operator==(selection_row const& a, selection_row const& b) {
        return a.operation == b.operation && a.transport == b.transport && a.ranks_from == b.ranks_from &&
               a.ranks_to == b.ranks_to && a.bytes_from == b.bytes_from && a.bytes_to == b.bytes_to &&
               a.algorithm == b.algorithm;
    }
};

/// An algorithm and the seconds that it takes, as measured or as the cost model expects.
struct timed_algorithm {
    any_algorithm algorithm;
    double seconds = 0;

    friend bool operator==(timed_algorithm const&, timed_algorithm const&) = default;
};

/// What was measured at one size: the median over runs of the slowest rank's time, of each algorithm tried.
struct measured_point {
    collective operation = collective::all_reduce;
    std::string transport;
    rank_id ranks = 1;
    std::uint64_t bytes = 0;
    std::vector<timed_algorithm> times;
    std::uint32_t line = 0;        ///< of the text it was read from; 0: none

    bool is_at(measured_point const& other) const {
        return operation == other.operation && transport == other.transport && ranks == other.ranks &&
               bytes == other.bytes;
    }
    bool is_about(algorithm_query const& asked) const {
        return operation == asked.operation && transport == asked.transport && ranks == asked.ranks;
    }

    friend bool operator==(measured_point const& a, measured_point const& b) {
        return a.is_at(b) && a.times == b.times;
    }
};

namespace detail {

struct sized_time {
    std::uint64_t bytes = 0;
    double seconds = 0;
};

/// On the straight line between two measured sizes; at one end as `selection_table::times_of` says.
inline double between(std::optional<sized_time> const& below, std::optional<sized_time> const& above,
                      std::uint64_t bytes) {
    if (!below) return above ? above->seconds : 0;
    if (!above) {
        double const times = below->bytes == 0 ? 1 : static_cast<double>(bytes) / static_cast<double>(below->bytes);
        return below->seconds * times;
    }
    if (above->bytes == below->bytes) return below->seconds;
    double const part =
        static_cast<double>(bytes - below->bytes) / static_cast<double>(above->bytes - below->bytes);
    return below->seconds + part * (above->seconds - below->seconds);
}

inline std::string at_line(std::uint32_t line) { return line == 0 ? "" : " of line " + std::to_string(line); }

inline std::string microseconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g us", 1e6 * seconds);
    return text;
}

inline std::optional<double> time_in(std::vector<timed_algorithm> const& times, any_algorithm const& algorithm) {
    for (timed_algorithm const& time : times)
        if (time.algorithm == algorithm) return time.seconds;
    return std::nullopt;
}

/// "1.2 us, next best ring 1.5 us (+25 %)": of an algorithm among times that are sorted, and of the fastest other one.
inline std::string compared(any_algorithm const& chosen, std::vector<timed_algorithm> const& times) {
    double const own = time_in(times, chosen).value_or(0);
    std::string text = own > 0 ? microseconds(own) : "a time that is not known";
    for (timed_algorithm const& other : times) {
        if (other.algorithm == chosen) continue;
        char more[32] = "";
        if (own > 0) std::snprintf(more, sizeof more, " (%+.0f %%)", 100 * (other.seconds / own - 1));
        return text + ", next best " + other.algorithm.describe() + ' ' + microseconds(other.seconds) + more;
    }
    return text;
}

/// "7", "7..9", "7..*", or "*" for what begins at `least` and has no end.
inline std::string text_of_range(std::uint64_t from, std::uint64_t to, std::uint64_t least, std::uint64_t most) {
    if (from == to) return std::to_string(from);
    if (from == least && to == most) return "*";
    return std::to_string(from) + ".." + (to == most ? "*" : std::to_string(to));
}

inline void expect_offered(any_algorithm const& algorithm, collective operation) {
    expects(algorithm.supports(operation),
            [&] { return algorithm.describe() + " does not offer " + std::string{to_string(operation)}; });
}

inline void expect_sensible(selection_row const& row) {
    expect_offered(row.algorithm, row.operation);
    expects(row.ranks_from >= 1, [] { return "a row for 0 ranks; there is at least one"; });
    expects(row.ranks_from <= row.ranks_to && row.bytes_from <= row.bytes_to,
            [] { return "a range ends before it begins"; });
    if (row.algorithm.describe().find("groups=") == std::string::npos) return;
    expects(row.ranks_from == row.ranks_to,
            [&] { return row.algorithm.describe() + " names groups, which fit one number of ranks only"; });
    static_cast<void>(row.algorithm.make(row.operation, 0, row.ranks_from));  // throws if the groups do not add up
}

inline void expect_sensible(measured_point const& point) {
    expects(point.ranks >= 1, [] { return "measured on 0 ranks; there is at least one"; });
    expects(!point.times.empty(), [] { return "a measured size without a time"; });
    for (std::size_t i = 0; i < point.times.size(); ++i) {
        expect_offered(point.times[i].algorithm, point.operation);
        expects(std::isfinite(point.times[i].seconds) && point.times[i].seconds > 0,
                [&] { return point.times[i].algorithm.describe() + " took a time that is not above 0"; });
        for (std::size_t j = 0; j < i; ++j)
            expects(!(point.times[i].algorithm == point.times[j].algorithm),
                    [&] { return point.times[i].algorithm.describe() + " was measured twice at one size"; });
    }
}

/// The last number of bytes, from that of `smaller` to one less than that of `larger`, at which the straight line of
/// `first` is not above that of `second`; the middle if one of the two was not measured at both.
inline std::uint64_t crossing(measured_point const& smaller, measured_point const& larger, any_algorithm const& first,
                              any_algorithm const& second) {
    auto const difference = [&](measured_point const& at) -> std::optional<double> {
        auto const a = time_in(at.times, first);
        auto const b = time_in(at.times, second);
        return a && b ? std::optional{*b - *a} : std::nullopt;
    };
    std::uint64_t const distance = larger.bytes - smaller.bytes;
    auto const ahead = difference(smaller);
    auto const behind = difference(larger);
    double share = 0.5;
    if (ahead && behind && *ahead > *behind) share = (std::max)(0.0, (std::min)(1.0, *ahead / (*ahead - *behind)));
    auto const offset = static_cast<std::uint64_t>(share * static_cast<double>(distance));
    return smaller.bytes + (std::min)(offset, distance - 1);
}

inline std::string where_of(measured_point const& point) {
    return std::string{to_string(point.operation)} + ' ' + point.transport + ' ' + std::to_string(point.ranks) + ' ' +
           std::to_string(point.bytes);
}

}  // namespace detail

/// The row as tables have it.
inline std::string to_string(selection_row const& row) {
    return std::string{to_string(row.operation)} + ' ' + row.transport + ' ' +
           detail::text_of_range(row.ranks_from, row.ranks_to, 1, selection_row::any_ranks) + ' ' +
           detail::text_of_range(row.bytes_from, row.bytes_to, 0, selection_row::any_bytes) + ' ' +
           row.algorithm.describe();
}

/// The line as tables have it; microseconds to five digits.
inline std::string to_string(measured_point const& point) {
    std::string text = "measured " + detail::where_of(point);
    char const* between = " ";
    for (timed_algorithm const& time : point.times) {
        char microseconds[32];
        std::snprintf(microseconds, sizeof microseconds, "%.5g ", 1e6 * time.seconds);
        text += between;
        text += microseconds + time.algorithm.describe();
        between = " | ";
    }
    return text;
}

}  // namespace chorus
