// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace chorus {

/// Who entered one operation when, by the clock of rank 0.
struct operation_arrivals {
    std::string operation;
    std::uint64_t count = 0;     ///< elements
    std::uint64_t sequence = 0;  ///< of the plan on its group
    std::uint32_t run = 0;       ///< of the plan
    rank_id first = nobody;
    rank_id last = nobody;
    std::chrono::nanoseconds first_at{0};  ///< since the epoch of rank 0's steady clock
    std::chrono::nanoseconds spread{0};    ///< from the first to the last
    std::chrono::nanoseconds lead{0};      ///< from the last but one to the last
    std::chrono::nanoseconds waited{0};    ///< by all the others together, for the last
};

/// A rank that kept the others waiting: how often and for how long.
struct blamed_rank {
    rank_id rank = nobody;
    std::uint64_t times = 0;             ///< it was last, by more than the threshold
    std::chrono::nanoseconds waited{0};  ///< by all the others together, then

    friend constexpr bool operator==(blamed_rank const&, blamed_rank const&) = default;
};

/// What the ranks noted about their arrivals, compared.
struct arrival_report {
    std::vector<operation_arrivals> operations;  ///< those of which every member's arrival is known, by first arrival
    std::vector<blamed_rank> blamed;             ///< who cost the others most comes first
    std::uint64_t incomplete = 0;                ///< operations that some members have not entered, or not noted any more
    std::uint64_t overwritten = 0;               ///< arrivals, on all ranks
    std::chrono::nanoseconds threshold{0};       ///< at least clock_error
    std::chrono::nanoseconds clock_error{0};     ///< between any two ranks, at the time of the collection

    /// A line about all, a line per blamed rank, lines about the operations with the widest spread; `most` of either at most.
    std::string describe(std::size_t most = 10) const;
};

namespace detail {

/// What travels of one arrival.
struct noted_arrival {
    std::uint64_t stream = 0;  // with run: equal on all members of an operation, different for different operations
    std::int64_t at = 0;       // nanoseconds
    std::uint64_t count = 0;
    std::uint64_t sequence = 0;
    std::uint32_t run = 0;
    rank_id size = 0;          // members of the operation
    std::array<char, 16> operation{};
};
static_assert(sizeof(noted_arrival) == 56);

struct arrival_totals {
    std::uint64_t overwritten = 0;
    std::chrono::nanoseconds threshold{0};
    std::chrono::nanoseconds clock_error{0};  // of one rank against rank 0
};

struct ranked_arrival {
    noted_arrival what;
    rank_id rank;
};

/// Each of them once.
inline bool are_all_members(std::span<ranked_arrival const> known, std::size_t ranks) {
    if (known.size() != known.front().what.size) return false;
    std::vector<bool> seen(ranks, false);
    for (ranked_arrival const& one : known) {
        if (seen[one.rank]) return false;
        seen[one.rank] = true;
    }
    return true;
}

/// Of one operation; `known` is in the order of arrival and not empty.
inline operation_arrivals compare_arrivals(std::span<ranked_arrival const> known) {
    noted_arrival const& last = known.back().what;
    operation_arrivals one{last.operation.data(), last.count, last.sequence, last.run, known.front().rank, known.back().rank};
    one.first_at = std::chrono::nanoseconds{known.front().what.at};
    one.spread = std::chrono::nanoseconds{last.at} - one.first_at;
    one.lead = std::chrono::nanoseconds{known.size() < 2 ? 0 : last.at - known[known.size() - 2].what.at};
    for (ranked_arrival const& other : known) one.waited += std::chrono::nanoseconds{last.at - other.what.at};
    return one;
}

inline std::vector<blamed_rank> blame(std::span<operation_arrivals const> operations, std::size_t ranks,
                                      std::chrono::nanoseconds threshold) {
    std::vector<blamed_rank> all(ranks);
    for (std::size_t r = 0; r < ranks; ++r) all[r].rank = static_cast<rank_id>(r);
    for (operation_arrivals const& one : operations) {
        if (one.lead <= threshold) continue;
        ++all[one.last].times;
        all[one.last].waited += one.waited;
    }
    all.erase(std::remove_if(all.begin(), all.end(), [](blamed_rank const& b) { return b.times == 0; }), all.end());
    std::stable_sort(all.begin(), all.end(), [](blamed_rank const& a, blamed_rank const& b) { return a.waited > b.waited; });
    return all;
}

/// counts[r] arrivals of rank r, one rank after another.
inline std::vector<ranked_arrival> by_operation(std::span<noted_arrival const> all, std::span<std::uint64_t const> counts) {
    std::vector<ranked_arrival> known;
    known.reserve(all.size());
    std::size_t next = 0;
    for (std::size_t r = 0; r < counts.size(); ++r)
        for (std::uint64_t i = 0; i < counts[r]; ++i) known.push_back({all[next++], static_cast<rank_id>(r)});
    std::sort(known.begin(), known.end(), [](ranked_arrival const& a, ranked_arrival const& b) {
        return std::tie(a.what.stream, a.what.run, a.what.at, a.rank) < std::tie(b.what.stream, b.what.run, b.what.at, b.rank);
    });
    return known;
}

/// `all` holds counts[r] arrivals of rank r, one rank after another. O(n log n) for n arrivals.
inline arrival_report report_arrivals(std::span<noted_arrival const> all, std::span<std::uint64_t const> counts,
                                      arrival_totals const& totals) {
    std::vector<ranked_arrival> const known = by_operation(all, counts);
    arrival_report report;
    report.overwritten = totals.overwritten;
    report.clock_error = 2 * totals.clock_error;
    report.threshold = (std::max)(totals.threshold, report.clock_error);
    for (std::size_t begin = 0, end = 0; begin < known.size(); begin = end) {
        noted_arrival const& first = known[begin].what;
        while (end < known.size() && known[end].what.stream == first.stream && known[end].what.run == first.run) ++end;
        if (are_all_members({&known[begin], end - begin}, counts.size())) report.operations.push_back(compare_arrivals({&known[begin], end - begin}));
        else ++report.incomplete;
    }
    std::sort(report.operations.begin(), report.operations.end(), [](auto const& a, auto const& b) {
        return std::tie(a.first_at, a.sequence, a.run) < std::tie(b.first_at, b.sequence, b.run);
    });
    report.blamed = blame(report.operations, counts.size(), report.threshold);
    return report;
}

/// "1.234 ms"
inline std::string in_milliseconds(std::chrono::nanoseconds time) {
    auto const microseconds = time.count() / 1000;
    std::string const part = std::to_string(microseconds % 1000);
    return std::to_string(microseconds / 1000) + '.' + std::string(3 - part.size(), '0') + part + " ms";
}

}  // namespace detail

namespace detail {

inline std::string describe_blame(arrival_report const& report, std::size_t most) {
    std::string const limit = in_milliseconds(report.threshold);
    std::size_t const shown = (std::min)(most, report.blamed.size());
    std::string text;
    for (blamed_rank const& one : std::span{report.blamed}.first(shown))
        text += "rank " + std::to_string(one.rank) + " was last " + std::to_string(one.times) + " times by more than " + limit +
                ", the others waited " + in_milliseconds(one.waited) + " for it\n";
    if (report.blamed.size() > shown) text += "and " + std::to_string(report.blamed.size() - shown) + " more ranks\n";
    if (report.blamed.empty()) text += "nobody was last by more than " + limit + '\n';
    return text;
}

inline std::string describe_widest(arrival_report const& report, std::size_t most) {
    std::vector<operation_arrivals const*> widest;
    for (operation_arrivals const& one : report.operations) widest.push_back(&one);
    std::stable_sort(widest.begin(), widest.end(), [](auto const* a, auto const* b) { return a->spread > b->spread; });
    std::string text;
    for (operation_arrivals const* one : std::span{widest}.first((std::min)(most, widest.size())))
        text += one->operation + " #" + std::to_string(one->sequence) + " run " + std::to_string(one->run) + " of " +
                std::to_string(one->count) + ": spread " + in_milliseconds(one->spread) + ", rank " +
                std::to_string(one->first) + " first, rank " + std::to_string(one->last) + " last\n";
    return text;
}

}  // namespace detail

inline std::string arrival_report::describe(std::size_t most) const {
    return std::to_string(operations.size()) + " operations compared, " + std::to_string(incomplete) + " incomplete, " +
           std::to_string(overwritten) + " arrivals forgotten; clocks agree within " + detail::in_milliseconds(clock_error) +
           '\n' + detail::describe_blame(*this, most) + detail::describe_widest(*this, most);
}

}  // namespace chorus
