// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/floors.hpp"

#include <doctest/doctest.h>

#include <limits>

TEST_CASE("a floor is missed by what is slower, and by what is not a number") {
    CHECK(bench::floors{}.missed(8, 0, 1e9).empty());
    bench::floors const rate{.gigabytes_per_second = 2, .microseconds = {}};
    CHECK(rate.missed(8, 2, 1).empty());
    CHECK(rate.missed(8, 1.9, 1) == "1.900000 GB/s at 8 bytes, expected at least 2.000000");
    CHECK_FALSE(rate.missed(8, std::numeric_limits<double>::quiet_NaN(), 1).empty());
    bench::floors const time{.gigabytes_per_second = {}, .microseconds = 10};
    CHECK(time.missed(8, 0, 10e-6).empty());
    CHECK(time.missed(64, 0, 11e-6) == "11.000000 us at 64 bytes, expected at most 10.000000");
    CHECK_FALSE(time.missed(8, 0, std::numeric_limits<double>::quiet_NaN()).empty());
}
