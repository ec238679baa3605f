// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/observe/arrival_report.hpp"

#include "chorus/base/random.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::arrival_report;
using chorus::blamed_rank;
using chorus::rank_id;
using chorus::detail::noted_arrival;
using std::chrono::nanoseconds;

namespace {

/// What each rank noted; arrivals of one operation have equal stream and run.
struct notes {
    explicit notes(rank_id ranks) : of(ranks) {}

    void note(rank_id rank, std::uint64_t stream, std::int64_t at, rank_id size, std::uint32_t run = 1) {
        of[rank].push_back({stream, at, 10, stream, run, size, {'s', 'u', 'm'}});
    }

    arrival_report report(nanoseconds threshold = nanoseconds{0}, nanoseconds clock_error = nanoseconds{0}) const {
        std::vector<noted_arrival> all;
        std::vector<std::uint64_t> counts;
        for (auto const& one : of) {
            all.insert(all.end(), one.begin(), one.end());
            counts.push_back(one.size());
        }
        return chorus::detail::report_arrivals(all, counts, {3, threshold, clock_error});
    }

    std::vector<std::vector<noted_arrival>> of;
};

std::uint64_t lines(std::string const& text) {
    return static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("three ranks, by hand") {
    notes seen{3};
    std::int64_t const at[3][2] = {{100, 1000}, {150, 1007}, {400, 1003}};
    for (rank_id r = 0; r < 3; ++r)
        for (std::uint64_t i = 0; i < 2; ++i) seen.note(r, 7 + i, at[r][i], 3);
    arrival_report const report = seen.report(nanoseconds{5});
    REQUIRE(report.operations.size() == 2);
    auto const& first = report.operations[0];
    CHECK(first.operation == "sum");
    CHECK(first.sequence == 7);
    CHECK(first.first == 0);
    CHECK(first.last == 2);
    CHECK(first.first_at == nanoseconds{100});
    CHECK(first.spread == nanoseconds{300});
    CHECK(first.lead == nanoseconds{250});
    CHECK(first.waited == nanoseconds{550});
    CHECK(report.operations[1].last == 1);
    CHECK(report.blamed == std::vector<blamed_rank>{{2, 1, nanoseconds{550}}});
    CHECK(report.overwritten == 3);
    CHECK(report.incomplete == 0);
}

TEST_CASE("any arrivals of 1 to 17 ranks: nothing is lost, nothing is invented") {
    for (rank_id size = 1; size <= 17; ++size) {
        notes seen{size};
        std::map<std::uint64_t, std::map<rank_id, std::int64_t>> truth;
        for (std::uint64_t op = 0; op < 40; ++op)
            for (rank_id r = 0; r < size; ++r) {
                std::uint64_t const draw = chorus::counter_random::mix(op * 100 + r + size * 10'000);
                if (draw % 64 == 0) continue;  // did not enter
                truth[op][r] = static_cast<std::int64_t>(op * 1000 + draw % 900);
                seen.note(r, 99 - op, truth[op][r], size);
            }
        nanoseconds const threshold{40};
        arrival_report const report = seen.report(threshold);
        std::uint64_t complete = 0;
        std::map<rank_id, blamed_rank> blamed;
        for (auto const& [op, arrivals] : truth) {
            if (arrivals.size() < size) continue;
            auto const& told = report.operations.at(complete++);
            std::vector<std::int64_t> times;
            nanoseconds waited{0};
            for (auto const& [r, t] : arrivals) times.push_back(t);
            std::sort(times.begin(), times.end());
            for (std::int64_t t : times) waited += nanoseconds{times.back() - t};
            CHECK(told.sequence == 99 - op);
            CHECK(arrivals.at(told.first) == times.front());
            CHECK(arrivals.at(told.last) == times.back());
            CHECK(told.spread == nanoseconds{times.back() - times.front()});
            CHECK(told.waited == waited);
            if (size == 1 || times.back() - times[times.size() - 2] <= threshold.count()) continue;
            blamed_rank& one = blamed[told.last];
            one = {told.last, one.times + 1, one.waited + waited};
        }
        CHECK(report.operations.size() == complete);
        CHECK(report.incomplete == truth.size() - complete);
        CHECK(report.blamed.size() == blamed.size());
        for (std::size_t i = 0; i < report.blamed.size(); ++i) {
            CHECK(report.blamed[i] == blamed[report.blamed[i].rank]);
            if (i > 0) CHECK(report.blamed[i].waited <= report.blamed[i - 1].waited);
        }
    }
}

TEST_CASE("a member that notes twice does not stand for one that is missing") {
    notes seen{2};
    seen.note(0, 1, 10, 2);
    seen.note(0, 1, 20, 2);
    CHECK(seen.report().operations.empty());
    CHECK(seen.report().incomplete == 1);
}

TEST_CASE("runs of one plan are different operations, subgroups are judged by their own size") {
    notes seen{4};
    for (std::uint32_t run = 1; run <= 3; ++run)
        for (rank_id r = 0; r < 2; ++r) seen.note(r, 5, 100 * run + r, 2, run);
    seen.note(3, 6, 50, 1);
    arrival_report const report = seen.report();
    CHECK(report.operations.size() == 4);
    CHECK(report.operations[0].last == 3);
    CHECK(report.blamed == std::vector<blamed_rank>{{1, 3, nanoseconds{3}}});
}

TEST_CASE("nobody is blamed for less than what the clocks are uncertain by") {
    notes seen{2};
    seen.note(0, 1, 100, 2);
    seen.note(1, 1, 220, 2);
    CHECK(seen.report(nanoseconds{0}, nanoseconds{59}).blamed.size() == 1);
    CHECK(seen.report(nanoseconds{0}, nanoseconds{60}).blamed.empty());
    CHECK(seen.report(nanoseconds{0}, nanoseconds{60}).threshold == nanoseconds{120});
    CHECK(seen.report(nanoseconds{500}, nanoseconds{1}).threshold == nanoseconds{500});
}

TEST_CASE("the words name the worst first, and no more than asked for") {
    notes seen{20};
    for (std::uint64_t op = 0; op < 40; ++op)
        for (rank_id r = 0; r < 20; ++r) {
            bool const is_late = r == op % 20;
            std::int64_t const base = static_cast<std::int64_t>(op) * 1'000'000'000;
            seen.note(r, op, base + (is_late ? 1'000'000 * (1 + r) : 0), 20);
        }
    arrival_report const report = seen.report(nanoseconds{1000});
    std::string const text = report.describe(5);
    CHECK(text.find("40 operations compared, 0 incomplete, 3 arrivals forgotten") == 0);
    CHECK(text.find("\nrank 19 was last 2 times by more than 0.001 ms, the others waited 760.000 ms for it\n") != std::string::npos);
    CHECK(text.find("rank 19 was") < text.find("rank 18 was"));
    CHECK(text.find("rank 14 was") == std::string::npos);
    CHECK(text.find("and 15 more ranks") != std::string::npos);
    CHECK(text.find("sum #19 run 1 of 10: spread 20.000 ms, rank 0 first, rank 19 last") != std::string::npos);
    CHECK(lines(text) == 1 + 5 + 1 + 5);
    CHECK(lines(report.describe(100)) == 1 + 20 + 40);
    CHECK(lines(report.describe(0)) == 1 + 1);
    CHECK(arrival_report{}.describe().find("nobody was last") != std::string::npos);
}
