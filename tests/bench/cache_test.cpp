// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/cache.hpp"

#include <doctest/doctest.h>

TEST_CASE("as much is displaced as the largest cache holds twice, within bounds") {
    CHECK(bench::largest_cache() >= 16 * 1024);
    bench::cache_displacer displacer;
    CHECK(displacer.bytes() >= 32 * 1024);
    CHECK(displacer.bytes() <= 64u << 20);
    displacer.displace();
    displacer.displace();
}
