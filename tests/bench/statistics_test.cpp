// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/statistics.hpp"

#include <doctest/doctest.h>

#include <chorus/base/random.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <vector>

using bench::summarise;

TEST_CASE("summaries of few values") {
    CHECK_THROWS_AS(summarise({}), std::invalid_argument);
    auto const one = summarise({3});
    CHECK((one.median == 3 && one.minimum == 3 && one.maximum == 3 && one.mean == 3 && one.p99 == 3));
    auto const two = summarise({9, 1});
    CHECK((two.median == 5 && two.minimum == 1 && two.maximum == 9 && two.mean == 5 && two.p99 == 9));
    auto const three = summarise({9, 1, 2});
    CHECK((three.median == 2 && three.minimum == 1 && three.maximum == 9 && three.mean == 4 && three.p99 == 9));
}

TEST_CASE("p99 is the least value that 99 % do not exceed, for 1 to 400 values in any order") {
    for (std::size_t count = 1; count <= 400; ++count) {
        std::vector<double> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i);
        chorus::counter_random const random{count};
        for (std::size_t i = count; i > 1; --i) std::swap(values[i - 1], values[random.below(i, i)]);
        auto const found = summarise(values);
        auto const at_most = [&](double bound) {
            auto const many = std::count_if(values.begin(), values.end(), [&](double v) { return v <= bound; });
            return static_cast<std::size_t>(many);
        };
        REQUIRE(at_most(found.p99) * 100 >= count * 99);
        if (found.p99 > 0) REQUIRE(at_most(found.p99 - 1) * 100 < count * 99);
        REQUIRE(found.median == static_cast<double>(count - 1) / 2);
        REQUIRE(found.mean == doctest::Approx(found.median));
    }
}

TEST_CASE("the interval of the median holds it with a probability of 95 % at least, by the exact binomial law") {
    for (std::size_t count = 1; count <= 300; ++count) {
        std::vector<double> values(count);
        for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<double>(i + 1);
        auto const found = bench::interval_of_median(values);
        if (count < 6) {
            CHECK(found.is_empty());
            CHECK(found.relative_to(1) > 1e300);
            continue;
        }
        // The true median lies in [v_low, v_high] unless fewer than `low` of the samples are below it, or above.
        auto const low = static_cast<std::size_t>(found.low);
        REQUIRE(found.low + found.high == static_cast<double>(count + 1));
        long double term = 1;
        for (std::size_t i = 0; i < count; ++i) term /= 2;
        long double outside = 0;
        for (std::size_t k = 0; k < low; ++k) {
            outside += 2 * term;
            term = term * static_cast<long double>(count - k) / static_cast<long double>(k + 1);
        }
        REQUIRE(outside <= 0.05L);
        if (count > 50) REQUIRE(outside > 0.015L);  // and it is not wider than needed
    }
}

TEST_CASE("percentiles are values, the least that so many percent do not exceed") {
    std::vector<double> const ten{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    CHECK(bench::percentile(ten, 0) == 1);
    CHECK(bench::percentile(ten, 10) == 1);
    CHECK(bench::percentile(ten, 10.5) == 2);
    CHECK(bench::percentile(ten, 50) == 5);
    CHECK(bench::percentile(ten, 90) == 9);
    CHECK(bench::percentile(ten, 100) == 10);
    CHECK(summarise({2, 4, 4, 4, 5, 5, 7, 9}).deviation == doctest::Approx(2));
}
