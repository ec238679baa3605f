// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/random.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <set>

using namespace chorus;

// Usable in constant expressions, hence the same for every rank, thread and order of asking.
static_assert(counter_random{1, 2}.bits(3) == counter_random{1, 2}.bits(3));
static_assert(counter_random{0}.bits(0) != counter_random{0}.bits(1));

TEST_CASE("the published finaliser") {
    // First outputs of SplitMix64 started at 0: its state after n steps is n times the golden gamma.
    constexpr std::uint64_t gamma = 0x9E3779B97F4A7C15u;
    CHECK(counter_random::mix(gamma) == 0xE220A8397B1DCDAFu);
    CHECK(counter_random::mix(2 * gamma) == 0x6E789E6AA1B965F4u);
    CHECK(counter_random::mix(3 * gamma) == 0x06C45D188009454Fu);
}

TEST_CASE("seed, stream and counter each change the number, at the edges too") {
    std::set<std::uint64_t> seen;
    std::uint64_t const values[] = {
        0, 1, 2, 3, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000000, ~std::uint64_t{0} - 1, ~std::uint64_t{0}};
    for (std::uint64_t seed : values)
        for (std::uint64_t stream : values)
            for (std::uint64_t counter : values) seen.insert(counter_random{seed, stream}.bits(counter));
    CHECK(seen.size() == 1000);
}

TEST_CASE("every bit is set about half of the time, and flips about half of the time with the counter") {
    constexpr int draws = 4096;
    counter_random const random{42};
    for (int bit = 0; bit < 64; ++bit) {
        int set = 0;
        int flipped = 0;
        for (std::uint64_t i = 0; i < draws; ++i) {
            set += static_cast<int>(random.bits(i) >> bit & 1);
            flipped += static_cast<int>((random.bits(i) ^ random.bits(i + 1)) >> bit & 1);
        }
        CHECK(set > draws / 2 - 200);  // over six standard deviations
        CHECK(set < draws / 2 + 200);
        CHECK(flipped > draws / 2 - 200);
        CHECK(flipped < draws / 2 + 200);
    }
}

TEST_CASE("below is the high word of bits times bound") {
    __extension__ using wide = unsigned __int128;
    counter_random const random{7, 1};
    for (std::uint64_t bound : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{1000},
                                std::uint64_t{0xFFFFFFFF}, std::uint64_t{0x100000001}, ~std::uint64_t{0}})
        for (std::uint64_t i = 0; i < 500; ++i) {
            CHECK(random.below(i, bound) == static_cast<std::uint64_t>(wide{random.bits(i)} * bound >> 64));
            CHECK(random.below(i, bound) < bound);
        }
}

TEST_CASE("unit lies in [0, 1), with 53 bits, and fills every tenth evenly") {
    counter_random const random{3};
    int tenths[10] = {};
    for (std::uint64_t i = 0; i < 10000; ++i) {
        double const u = random.unit(i);
        REQUIRE(u >= 0);
        REQUIRE(u < 1);
        CHECK(u * 0x1p53 == static_cast<double>(random.bits(i) >> 11));
        ++tenths[static_cast<int>(10 * u)];
    }
    for (int count : tenths) {
        CHECK(count > 800);
        CHECK(count < 1200);
    }
}
