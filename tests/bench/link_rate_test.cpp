// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/link_rate.hpp"

#include <doctest/doctest.h>

TEST_CASE("rates of links are bytes per second, in powers of 1000") {
    CHECK(bench::parse_link("1Gbit") == 125e6);
    CHECK(bench::parse_link("2.5gbit") == 312.5e6);
    CHECK(bench::parse_link("100Mbit") == 12.5e6);
    CHECK(bench::parse_link("56kbit") == 7000);
    CHECK(bench::parse_link("12GB") == 12e9);
    for (char const* wrong : {"", "1", "Gbit", "0Gbit", "-1Gbit", "1 Gb", "1Gbits", "xGbit"}) CHECK_THROWS_AS(bench::parse_link(wrong), std::invalid_argument);
}
