// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/hang_report.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using chorus::explain_hang;
using chorus::hang_report;
using chorus::nobody;
using chorus::operation_record;
using chorus::operation_state;
using chorus::rank_id;
using chorus::rank_view;

namespace {

/// Plan number `sequence` of group `group`, in round 1 of 9 of its first run.
operation_record running(std::uint64_t sequence, std::uint32_t group = 7) {
    operation_record record;
    record.sequence = sequence;
    record.stream = 1000 * group + sequence;
    record.group = group;
    record.count = 10 + sequence;
    record.run = 1;
    record.round = 1;
    record.rounds = 9;
    record.state = operation_state::running;
    std::string_view const name = "all_reduce";
    std::copy(name.begin(), name.end(), record.operation.begin());
    return record;
}

operation_record ended(std::uint64_t sequence, operation_state how = operation_state::done, std::uint32_t group = 7) {
    operation_record record = running(sequence, group);
    record.state = how;
    return record;
}

/// All in operation 5.
std::vector<rank_view> all_in(rank_id size) {
    std::vector<rank_view> views;
    for (rank_id r = 0; r < size; ++r) views.push_back({.rank = r, .record = running(5)});
    return views;
}

bool has(hang_report const& report, std::string_view words) {
    bool const found = report.text.find(words) != std::string::npos;
    if (!found) MESSAGE("\"" << words << "\" is not in: " << report.text);
    return found;
}

bool begins(hang_report const& report, std::string_view words) {
    bool const found = report.text.starts_with(words);
    if (!found) MESSAGE("this does not begin with \"" << words << "\": " << report.text);
    return found;
}

struct scenario {
    std::function<void(rank_view&)> strike;
    std::string_view said;
};

std::vector<scenario> const laggards{
    {[](rank_view& v) { v.record = {}; }, ": never called anything"},
    {[](rank_view& v) { v.record = ended(4); }, ": did not enter it (last: all_reduce #4 of 14"},
    {[](rank_view& v) { v.record = ended(4, operation_state::failed); }, ", failed)"},
    {[](rank_view& v) { v.record = ended(2, operation_state::done, 8); }, ": did not enter it (last: all_reduce #2 of 12"},
    {[](rank_view& v) { v.record = running(4); }, ": in an earlier one, all_reduce #4 of 14"},
    {[](rank_view& v) { v.record = running(5, 8); }, ": in one of another group, all_reduce #5 of 15"},
    {[](rank_view& v) { v.has_answered = false; }, ": did not answer within 200 ms: stopped, busy outside chorus, or unreachable"},
    {[](rank_view& v) { v.is_lost = true; }, ": ended or left, last in all_reduce #5 of 15"},
};

}  // namespace

TEST_CASE("whoever keeps the others waiting is named first, whatever it does, and blamed") {
    for (rank_id size = 2; size <= 17; ++size)
        for (rank_id odd = 0; odd < size; ++odd)
            for (scenario const& one : laggards) {
                auto views = all_in(size);
                one.strike(views[odd]);
                rank_id const me = (odd + 1) % size;
                views[me].record.awaited = odd;
                hang_report const report = explain_hang(views, me);
                CHECK(begins(report, "rank " + std::to_string(odd) + ": "));
                CHECK(has(report, one.said));
                CHECK(has(report, "waiting for rank " + std::to_string(odd)));
                CHECK(report.culprit == odd);
                CHECK(report.text.find("circle") == std::string::npos);
            }
}

TEST_CASE("HNG-3: ranks that are missing together are named together, in runs") {
    auto views = all_in(12);
    for (rank_id r : {3u, 4u, 5u, 6u, 9u}) views[r].record = ended(4);
    hang_report const report = explain_hang(views, 0);
    CHECK(begins(report, "ranks 3-6, 9: did not enter it (last: all_reduce #4"));
    CHECK(has(report, "; ranks 0-2, 7, 8, 10, 11: in it, round 1 of 9"));
    CHECK(report.culprit == 3);
}

TEST_CASE("of two kinds of laggards the worse is named first, of two of a kind the fewer") {
    auto views = all_in(9);
    views[2].record = ended(3);
    views[3].record = ended(3);
    views[4].record = ended(4);
    CHECK(begins(explain_hang(views, 0), "rank 4: did not enter it (last: all_reduce #4"));
    views[7].is_lost = true;
    CHECK(begins(explain_hang(views, 0), "rank 7: ended or left"));
    CHECK(explain_hang(views, 0).culprit == 7);
}

TEST_CASE("who ran into its own deadline in the same operation and left is not blamed for it") {
    auto views = all_in(9);
    views[1].is_lost = true;
    views[1].record.state = operation_state::failed;
    views[2].record = ended(4);
    hang_report const report = explain_hang(views, 0);
    CHECK(begins(report, "rank 2: did not enter it"));
    CHECK(has(report, "; rank 1: failed in it and left"));
    CHECK(report.culprit == 2);
}

TEST_CASE("runs of one plan are told apart") {
    auto views = all_in(4);
    for (rank_view& v : views) v.record.run = 6;
    views[2].record.run = 5;
    views[2].record.state = operation_state::done;
    CHECK(begins(explain_hang(views, 0), "rank 2: did not enter run 6 of it (last: run 5, done)"));
    views[2].record.state = operation_state::running;
    views[2].record.round = 3;
    views[2].record.awaited = 1;
    CHECK(begins(explain_hang(views, 0), "rank 2: still in run 5 of it, round 3 of 9, waiting for rank 1"));
    views[2].record.run = 7;
    CHECK(begins(explain_hang(views, 0), "rank 2: already in run 7 of it"));
    views[2].record.run = 6;
    views[2].record.state = operation_state::done;
    CHECK(begins(explain_hang(views, 0), "rank 2: already through with it"));
}

TEST_CASE("the minority is named first: those ahead, or those left behind") {
    for (rank_id size = 3; size <= 17; ++size)
        for (rank_id ahead = 1; ahead < size; ++ahead) {
            auto views = all_in(size);
            for (rank_id r = size - ahead; r < size; ++r) views[r].record = running(6);
            hang_report const report = explain_hang(views, 0);
            bool const are_few_ahead = 2 * ahead <= size;
            CHECK(report.culprit == (are_few_ahead ? size - ahead : 0));
            CHECK(has(report, "in a later one, all_reduce #6 of 16"));
            CHECK(has(report, "in it, round 1 of 9"));
        }
}

TEST_CASE("who failed in it has waited, too: it is named last and not blamed") {
    for (rank_id size = 3; size <= 17; ++size) {
        auto views = all_in(size);
        for (rank_id r = 2; r < size; ++r) views[r].record = ended(5, operation_state::failed);
        views[1].record = ended(4);
        CHECK(explain_hang(views, 0).culprit == 1);
        CHECK(has(explain_hang(views, 0), ": failed in it"));
        views[1].record = running(5);
        views[0].record.awaited = 1;
        CHECK(explain_hang(views, 0).culprit == 1);
    }
}

TEST_CASE("a circle of waits is shown, and who is furthest back is named first") {
    for (rank_id size = 2; size <= 17; ++size) {
        auto views = all_in(size);
        for (rank_id r = 0; r < size; ++r) views[r].record.awaited = (r + size - 1) % size;
        hang_report report = explain_hang(views, 0);
        CHECK(has(report, "; they wait in a circle: rank 0 for " + std::to_string(size - 1)));
        CHECK(report.culprit == size - 1);  // all are equally far: the one that is awaited
        for (rank_id r = 0; r < size; ++r) views[r].record.round = r == 1 ? 2 : 3;
        report = explain_hang(views, 0);
        CHECK(begins(report, "rank 1: in it, round 2 of 9, waiting for rank 0"));
        CHECK(report.culprit == 1);
    }
    auto chain = all_in(4);
    for (rank_id r = 0; r < 3; ++r) chain[r].record.awaited = r + 1;
    CHECK(explain_hang(chain, 0).text.find("circle") == std::string::npos);
}

TEST_CASE("ranks are numbered as on the transport; group ranks are added where they differ") {
    std::vector<rank_view> views;
    for (rank_id r : {9u, 4u, 2u}) views.push_back({.rank = r, .record = running(5)});
    views[1].record = {};
    views[0].record.awaited = 4;
    hang_report const report = explain_hang(views, 0);
    CHECK(begins(report, "rank 4 (1 in the group): never called anything"));
    CHECK(has(report, "waiting for rank 4 (1 in the group)"));
    CHECK(report.culprit == 4);
}

TEST_CASE("one rank alone, and whoever waits for nobody") {
    auto const views = all_in(1);
    CHECK(begins(explain_hang(views, 0), "rank 0: in it, round 1 of 9"));
    CHECK(explain_hang(views, 0).culprit == 0);
}

TEST_CASE("ten thousand ranks in as many states make a text of bounded length that begins with the culprit") {
    rank_id const size = 10'000;
    for (rank_id me : {0u, 5000u, 9999u}) {
        auto views = all_in(size);
        for (rank_id r = 0; r < size; ++r) {
            views[r].record.awaited = (r + size - 1) % size;
            views[r].record.round = 10 + r % 100;
            if (r % 3 == 1) views[r].record = ended(r % 5);
        }
        views[1234].has_answered = false;
        hang_report const report = explain_hang(views, me);
        CHECK(begins(report, "rank 1234: did not answer"));
        CHECK(report.culprit == 1234);
        CHECK(report.text.size() < 4096);
        CHECK(has(report, " of them)"));
        CHECK(has(report, " more"));
    }
    auto circle = all_in(size);
    for (rank_id r = 0; r < size; ++r) circle[r].record.awaited = (r + 1) % size;
    CHECK(has(explain_hang(circle, 17), "(10000 ranks)"));
    CHECK(explain_hang(circle, 17).text.size() < 4096);
}

TEST_CASE("nothing is left out: every rank is in a list or counted, for all mixtures of states") {
    for (std::uint64_t seed = 0; seed < 400; ++seed) {
        rank_id const size = static_cast<rank_id>(2 + seed % 16);
        auto views = all_in(size);
        std::uint64_t draw = seed * 0x9E3779B97F4A7C15u + 1;
        for (rank_id r = 1; r < size; ++r) {
            draw = draw * 6364136223846793005u + 1442695040888963407u;
            std::uint64_t const state = (draw >> 33) % 10;
            if (state < laggards.size()) laggards[state].strike(views[r]);
        }
        hang_report const report = explain_hang(views, 0);
        std::vector<bool> told(size, false);
        std::size_t statuses = 0;
        std::string_view text = report.text;
        while (!text.empty()) {  // "ranks 1-3, 5: …; rank 4: …"
            std::string_view const part = text.substr(0, text.find("; "));
            text.remove_prefix((std::min)(part.size() + 2, text.size()));
            if (!part.starts_with("rank")) continue;
            ++statuses;
            rank_id from = 0;
            rank_id number = 0;
            bool is_range = false;
            bool has_digits = false;
            for (char c : part.substr(part.find(' '))) {
                if (c >= '0' && c <= '9') {
                    number = (has_digits ? number * 10 : 0) + static_cast<rank_id>(c - '0');
                    has_digits = true;
                    continue;
                }
                if (has_digits)
                    for (rank_id r = is_range ? from : number; r <= number; ++r) told.at(r) = true;
                is_range = c == '-';
                from = number;
                has_digits = false;
                if (c == ':') break;
            }
        }
        REQUIRE(statuses <= 8);
        if (report.text.find(" more") == std::string::npos)
            CHECK(std::find(told.begin(), told.end(), false) == told.end());
    }
}
