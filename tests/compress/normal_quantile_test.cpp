// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/detail/normal_quantile.hpp"

#include <cmath>
#include <cstdint>

#include <doctest/doctest.h>

using chorus::detail::fixed_log2;
using chorus::detail::normal_quantile;

TEST_CASE("the logarithm is right to its last bit or two") {
    for (std::uint64_t value : {1ull, 2ull, 3ull, 7ull, 1000ull, 65535ull, 4294967295ull, 4294967296ull, 1ull << 63}) {
        double const exact = std::log2(static_cast<double>(value)) * 65536;
        CHECK(static_cast<double>(fixed_log2(value)) <= exact + 0.01);
        CHECK(static_cast<double>(fixed_log2(value)) >= exact - 2);
    }
}

TEST_CASE("the quantile leaves the wanted share outside") {
    for (std::uint64_t whole : {10ull, 1000ull, 100000ull, 16777216ull, 4294967295ull})
        for (std::uint64_t part = 1; part <= whole; part = part * 3 / 2 + 1) {
            double const share = static_cast<double>(part) / static_cast<double>(whole);
            double const outside = std::erfc(normal_quantile(part, whole) / std::sqrt(2.0));
            CHECK_MESSAGE(std::abs(outside / share - 1) < 0.1, part, " of ", whole, " gives ", outside);
        }
    CHECK(normal_quantile(5, 5) == 0.0);
    CHECK(normal_quantile(1, std::uint64_t{1} << 40) > 6.4);
}
