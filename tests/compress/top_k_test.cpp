// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/top_k.hpp"

#include "suites/compressor_suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::top_k;
using suites::floats;

namespace {

/// By definition: sorted by magnitude, equals by index.
std::vector<std::uint32_t> by_magnitude(floats const& x) {
    std::vector<std::uint32_t> order(x.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::abs(x[a]) > std::abs(x[b]) || (std::abs(x[a]) == std::abs(x[b]) && a < b);
    });
    return order;
}

floats through(top_k c, floats const& x) { return suites::decoded(c, suites::encoded(c, x), x.size()); }

std::string refusal(double ratio) {
    return suites::unlike(chorus::errc::invalid_argument, {"ratio"}, [&] { top_k{ratio}; });
}

}  // namespace

TEST_CASE("top_k: all laws of a compressor") {
    suites::compressor_suite(top_k{0.1});
}

TEST_CASE("CMP-10: k is the nearest to ratio times n, halves down, at least 1") {
    top_k const hundredth{0.01};
    std::size_t const counts[] = {0, 1, 3, 99, 100, 101, 250, 251, 1u << 20}, expected[] = {0, 1, 1, 1, 1, 1, 2, 3, 10486};
    for (std::size_t i = 0; i < std::size(counts); ++i) CHECK(hundredth.kept(counts[i]) == expected[i]);
    CHECK(top_k{0.5}.kept(3) == 1);
    CHECK(top_k{0.29}.kept(100) == 29);
    CHECK(top_k{1}.kept(77) == 77);
    CHECK(through(top_k{1}, suites::drawn(77, 1)) == suites::drawn(77, 1));
    for (double ratio : {0.0, -1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) CHECK(refusal(ratio) == "");
    top_k changed;
    changed.ratio = 2;
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"ratio", "2"}, [&] { changed.max_wire_bytes(10); }) == "");
    CHECK(top_k::of(5).kept(3) == 3);
    CHECK(top_k::of(5).kept(300) == 5);
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"one entry"}, [] { top_k::of(0); }) == "");
}

TEST_CASE("CMP-14: of equal magnitudes the lower index is kept, with its sign") {
    CHECK(through(top_k::of(2), {1, 1, 1, 1}) == floats{1, 1, 0, 0});
    CHECK(through(top_k::of(2), {1, -1, -1, 1}) == floats{1, -1, 0, 0});
    CHECK(through(top_k::of(1), {-5, 1, 2}) == floats{-5, 0, 0});
    CHECK(through(top_k::of(1), {0, 0, 9, 0}) == floats{0, 0, 9, 0});
}

TEST_CASE("CMP-3: a message has 8 bytes for each entry and a header of 16") {
    top_k c{0.01};
    CHECK(suites::encoded(c, suites::drawn(1u << 20, 1)).size() == 16 + 10486 * 8);
}

TEST_CASE("the largest are kept whatever the order, with and without a sample to go by") {
    for (std::size_t count : {1u, 100u, 4097u, 9000u, 140001u}) {
        floats const random = suites::drawn(count, count);
        floats rising(count), falling(count), steps(count), blocks(count);
        for (std::size_t i = 0; i < count; ++i) {
            rising[i] = static_cast<float>(i) * (i % 2 == 0 ? 1.0f : -1.0f);
            falling[i] = static_cast<float>(count - i);
            steps[i] = std::floor(random[i] * 4);
            blocks[i] = i < count / 2 ? 0.0f : random[i] > 0.99f ? 1.0f : 0.0f;
        }
        for (floats const& x : {random, rising, falling, steps, blocks, floats(count, -3.0f)}) {
            auto const order = by_magnitude(x);
            for (double ratio : {1e-4, 0.03, 0.9}) {
                floats expected(count);
                for (std::size_t i = 0; i < top_k{ratio}.kept(count); ++i) expected[order[i]] = x[order[i]];
                bool const is_right = through(top_k{ratio}, x) == expected;
                CHECK_MESSAGE(is_right, count, " elements, ratio ", ratio);
            }
        }
    }
}

TEST_CASE("NAN-4: what is not finite is kept, and more of it than a message can hold makes everything NaN") {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
    auto const bad = [](floats const& x) { return std::count_if(x.begin(), x.end(), [](float v) { return !std::isfinite(v); }); };
    for (floats const& x : {floats{nan, 1, 2}, floats{infinity, 1, 2}}) {
        CHECK(bad(through(top_k::of(1), x)) == 1);
        CHECK(!std::isfinite(through(top_k::of(1), x)[0]));
    }
    CHECK(bad(through(top_k::of(2), {-infinity, infinity, 0})) == 2);
    floats const everything = through(top_k::of(1), {-infinity, infinity, 0});
    CHECK(std::all_of(everything.begin(), everything.end(), [](float v) { return std::isnan(v); }));
    top_k cleans = top_k::of(2);
    cleans.on_nonfinite = chorus::nonfinite::sanitise;
    constexpr float most = std::numeric_limits<float>::max();
    CHECK(through(cleans, {nan, 1, -infinity, 2, infinity}) == floats{0, 0, -most, 0, most});
    CHECK(through(cleans, {nan, 0, nan}) == floats{0, 0, 0});
    floats many(180000, 1.0f);
    for (std::size_t i = 0; i < many.size(); i += 3) many[i] = i % 2 == 0 ? infinity : nan;
    CHECK(bad(through(top_k{0.3}, many)) == 180000);
    CHECK(bad(through(top_k{0.4}, many)) == 60000);
    CHECK(bad(through(cleans, many)) == 0);
}

TEST_CASE("more elements than 32 bits can count are refused before any is read") {
    float const one = 1;
    std::byte room{};
    top_k c{0.01};
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"top_k", "4294967296", "32 bits"},
                         [&] { c.encode({&one, std::size_t{1} << 32}, {&room, 1}); }) == "");
}
