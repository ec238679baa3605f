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
