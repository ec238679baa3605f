// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/detail/drawn_indices.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <doctest/doctest.h>

namespace {

using indices = std::vector<std::uint32_t>;

indices drawn(std::uint64_t seed, std::uint64_t step, std::size_t count, std::size_t k) {
    indices all;
    std::size_t sum = 0;
    chorus::detail::for_each_drawn(seed, step, count, k, [&](std::size_t index) { sum += index; }, [&](std::span<std::uint32_t const> some) {
        all.insert(all.end(), some.begin(), some.end());
    });
    if (std::accumulate(all.begin(), all.end(), std::size_t{0}) != sum) FAIL("others were announced than came");
    return all;
}

bool are_ascending_below(indices const& all, std::size_t count) {
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] >= count || (i > 0 && all[i] <= all[i - 1])) return false;
    return true;
}

}  // namespace

TEST_CASE("CMP-1: indices are within the vector, none twice, each equally often") {
    for (std::size_t count = 1; count <= 8; ++count)
        for (std::size_t k = 1; k <= count; ++k) {
            constexpr std::uint64_t draws = 20000;
            std::vector<double> often(count);
            for (std::uint64_t step = 0; step < draws; ++step) {
                indices const all = drawn(9, step, count, k);
                if (all.size() != k || !are_ascending_below(all, count)) FAIL("not a set of ", k, " of ", count);
                for (std::uint32_t index : all) ++often[index];
            }
            double const share = static_cast<double>(k) / static_cast<double>(count);
            double const sigma = std::sqrt(draws * share * (1 - share));
            for (double each : often) CHECK(std::abs(each - draws * share) <= 5 * sigma);
        }
}

TEST_CASE("CMP-1: also across the stretches that indices are drawn in") {
    for (std::size_t count : {4095u, 4096u, 4097u, 8192u, 10001u})
        for (std::size_t k : {std::size_t{1}, std::size_t{7}, count / 100, count / 2, count - 1, count}) {
            indices const all = drawn(1, 2, count, k);
            CHECK(all.size() == k);
            CHECK(are_ascending_below(all, count));
        }
    CHECK(drawn(1, 2, 10, 0).empty());
    // 40 buckets of 4097 elements, the last one across the border.
    constexpr std::size_t count = 4097, k = 5, draws = 20000, buckets = 40;
    std::vector<double> often(buckets), sizes(buckets);
    for (std::size_t i = 0; i < count; ++i) ++sizes[i * buckets / count];
    for (std::uint64_t step = 0; step < draws; ++step)
        for (std::uint32_t index : drawn(4, step, count, k)) ++often[index * buckets / count];
    for (std::size_t b = 0; b < buckets; ++b) {
        double const expected = draws * k * sizes[b] / static_cast<double>(count);
        CHECK(std::abs(often[b] - expected) <= 5 * std::sqrt(expected));
    }
    std::size_t last = 0;  // 4096 is drawn as often as every other
    for (std::uint64_t step = 0; step < 4000; ++step) last += drawn(5, step, count, 1000).back() == 4096;
    CHECK(std::abs(static_cast<double>(last) - 4000 * 1000.0 / count) <= 5 * std::sqrt(4000 * 0.25 * 0.75));
}
