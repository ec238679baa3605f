// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/pattern.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

using bench::operation;
using bench::pattern;

namespace {

// The reduction of 8-bit integers as a rank would do it, and whether it overflowed on the way.
int reduce_in_8_bits(operation op, std::vector<int> const& values, bool& overflowed) {
    int result = values.front();
    for (std::size_t i = 1; i < values.size(); ++i) {
        switch (op) {
            case operation::mean:
            case operation::sum: result += values[i]; break;
            case operation::product: result *= values[i]; break;
            case operation::minimum: result = values[i] < result ? values[i] : result; break;
            case operation::maximum: result = values[i] > result ? values[i] : result; break;
        }
        overflowed = overflowed || result < 0 || result > 126;
    }
    return op == operation::mean ? result / static_cast<int>(values.size()) : result;
}

}  // namespace

TEST_CASE("BEN-2: no value, partial result or result leaves 0 ... 126, for any number of ranks") {
    for (operation op : bench::all_operations)
        for (std::uint32_t ranks = 1; ranks <= pattern::most_ranks; ++ranks) {
            pattern const p{op, ranks};
            bool overflowed = false;
            for (std::uint64_t index = 0; index < pattern::period; ++index) {
                std::vector<int> values;
                for (std::uint32_t r = 0; r < ranks; ++r) {
                    values.push_back(p.value(r, index, ranks));
                    overflowed = overflowed || values.back() < 0 || values.back() > 126;
                }
                REQUIRE(reduce_in_8_bits(op, values, overflowed) == p.reduced(0, ranks, index, ranks));
            }
            CHECK_FALSE(overflowed);
        }
}

TEST_CASE("BEN-2: results differ between places and between calls, so that stale or misplaced blocks are found") {
    for (operation op : bench::all_operations)
        for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
            pattern const p{op, ranks};
            std::set<int> over_places;
            int changed = 0;
            for (std::uint64_t index = 0; index < pattern::period; ++index) {
                over_places.insert(p.reduced(0, ranks, index, 0));
                if (p.reduced(0, ranks, index, 0) != p.reduced(0, ranks, index, 1)) ++changed;
            }
            CAPTURE(bench::to_string(op));
            CAPTURE(ranks);
            CHECK(over_places.size() >= 3);
            CHECK(changed >= 10);
            CHECK(p.value(0, 5, 0) == p.value(0, 5 + pattern::period, 0));
        }
}

TEST_CASE("the mean of all ranks is whole, so that every element type has it exactly") {
    for (std::uint32_t ranks = 1; ranks <= pattern::most_ranks; ++ranks) {
        pattern const p{operation::mean, ranks};
        for (std::uint64_t index = 0; index < pattern::period; ++index) {
            int sum = 0;
            for (std::uint32_t r = 0; r < ranks; ++r) sum += p.value(r, index, 9);
            REQUIRE(sum == static_cast<int>(ranks) * p.reduced(0, ranks, index, 9));
        }
    }
}

TEST_CASE("too many ranks to check are refused") {
    CHECK_THROWS_AS((pattern{operation::sum, 0}), std::invalid_argument);
    CHECK_THROWS_AS((pattern{operation::sum, 127}), std::invalid_argument);
}

TEST_CASE("operations are found by name") {
    for (operation op : bench::all_operations) CHECK(bench::operation_named(bench::to_string(op)) == op);
    CHECK_THROWS_AS(bench::operation_named("plus"), std::invalid_argument);
}
