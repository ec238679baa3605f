// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/schedule/measured_selection.hpp"

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace chorus;

namespace {

measured_point point(std::uint64_t bytes, std::vector<timed_algorithm> times) {
    return {collective::all_reduce, "shm", 4, bytes, std::move(times)};
}

}  // namespace

TEST_CASE("candidates offer the collective, are different from one another, and contain all that is listed") {
    for (collective operation : all_collectives)
        for (rank_id ranks : {1u, 2u, 3u, 4u, 8u}) {
            std::vector<any_algorithm> const found = tuning_candidates(operation, ranks);
            CHECK(!found.empty());
            CHECK(found.size() <= 24);
            for (std::size_t i = 0; i < found.size(); ++i) {
                CHECK(found[i].supports(operation));
                CHECK(algorithm_named(found[i].describe()) == found[i]);
                for (std::size_t j = 0; j < i; ++j)
                    CHECK_FALSE(detail::does_the_same(found[i], found[j], operation, ranks));
            }
            for (std::string_view name : known_algorithms()) {
                any_algorithm const listed = algorithm_named(name);
                if (name == "hierarchical" || !listed.supports(operation)) continue;
                bool is_there = false;
                for (any_algorithm const& other : found)
                    is_there |= detail::does_the_same(listed, other, operation, ranks);
                CHECK_MESSAGE(is_there, std::string{name});
            }
        }
    auto has = [](rank_id ranks, std::string const& text) {
        for (any_algorithm const& algorithm : tuning_candidates(collective::all_reduce, ranks))
            if (algorithm.describe() == text) return true;
        return false;
    };
    CHECK(has(4, "ring(segments=4)"));
    CHECK(has(8, "hierarchical(inside=ring, between=ring, width=4)"));
    CHECK_FALSE(has(4, "hierarchical(inside=ring, between=ring, width=4)"));
}

TEST_CASE("rows end where the lines between measured sizes cross") {
    std::vector<measured_point> const points{
        point(1000, {{direct{}, 10}, {ring{}, 20}}),
        point(2000, {{direct{}, 20}, {ring{}, 22}}),
        point(4000, {{direct{}, 40}, {ring{}, 26}}),
        point(8000, {{direct{}, 80}, {ring{}, 34}, {rabenseifner{}, 10}}),
    };
    auto const rows = select_rows(points);
    REQUIRE(rows.size() == 3);
    CHECK(rows[0] == selection_row{collective::all_reduce, "shm", 4, 4, 0, 2250, direct{}});  // 20 + x/100 = 22 + x/500
    CHECK(rows[1] == selection_row{collective::all_reduce, "shm", 4, 4, 2251, 6000, ring{}});  // not measured at both
    CHECK(rows[2] == selection_row{collective::all_reduce, "shm", 4, 4, 6001, selection_row::any_bytes, rabenseifner{}});
    CHECK(select_rows({}).empty());
    CHECK(select_rows(std::span{points}.first(1)).size() == 1);
}

TEST_CASE("what is a little slower than the fastest stays, what is slower than tolerated does not") {
    std::vector<measured_point> const points{point(1000, {{direct{}, 10}, {ring{}, 11}}),
                                             point(2000, {{direct{}, 20.3}, {ring{}, 20}})};
    CHECK(select_rows(points).size() == 1);
    CHECK(select_rows(points, 0.0).size() == 2);
    CHECK(select_rows(points, 0.01).size() == 2);
}

TEST_CASE("whatever was measured, rows follow one another without gaps, and each holds at its own sizes") {
    std::vector<measured_point> points;
    std::uint64_t seed = 1;
    for (std::uint64_t bytes = 1; bytes <= 64; ++bytes) {
        auto next = [&] { return static_cast<double>((seed = seed * 6364136223846793005u + 1442695040888963407u) >> 60) + 1; };
        points.push_back(point(bytes, {{direct{}, next()}, {ring{}, next()}, {rabenseifner{}, next()}}));
    }
    auto const rows = select_rows(points, 0.0);
    selection_table table;
    std::uint64_t next = 0;
    for (selection_row const& row : rows) {
        CHECK(row.bytes_from == next);
        next = row.bytes_to + 1;
        table.add(row);
    }
    CHECK(next == 0);
    for (measured_point const& at : points) {
        double best = 100;
        for (timed_algorithm const& time : at.times) best = (std::min)(best, time.seconds);
        any_algorithm const chosen = table.find({collective::all_reduce, 4, at.bytes, "shm"})->algorithm;
        CHECK(*detail::time_in(at.times, chosen) == best);
    }
    std::swap(points[3], points[4]);
    CHECK_THROWS_AS(select_rows(points), error);
}
