// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/ternary.hpp"

#include "suites/compressor_suite.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

TEST_CASE("ternary: all laws of a compressor, whole, in blocks and clipped") {
    suites::compressor_suite(chorus::ternary{}, {.suffering = 0});
    suites::compressor_suite(chorus::ternary{.block = 64}, {.suffering = 64, .is_large_tried = false});
    suites::compressor_suite(chorus::ternary{.block = 128, .clip = 2.5}, {.suffering = 128, .is_large_tried = false});
}

TEST_CASE("ternary sends -s, 0 and s, where s is the largest magnitude, which is always sent") {
    auto x = suites::drawn(1000, 1);
    x[123] = -1.5f;
    chorus::ternary c;
    auto const result = suites::decoded(c, suites::encoded(c, x), x.size());
    CHECK(result[123] == -1.5f);
    for (std::size_t i = 0; i < x.size(); ++i) {
        CHECK((result[i] == 0 || std::abs(result[i]) == 1.5f));
        CHECK(std::signbit(result[i]) == std::signbit(x[i]));
    }
}

TEST_CASE("ternary clips at so many standard deviations") {
    suites::floats x(1024);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1.0f : -1.0f;
    x[7] = 1000;
    chorus::ternary c{.clip = 2};
    auto const result = suites::decoded(c, suites::encoded(c, x), x.size());
    CHECK(result[7] == doctest::Approx(2 * std::sqrt((1e6 + 1023) / 1024 - std::pow(1001.0 / 1024, 2))).epsilon(1e-3));
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"-1"}, [&] {
              c.clip = -1;
              suites::encoded(c, x);
          }) == "");
}

TEST_CASE("CMP-3: 2^20 floats take 256 KiB, a header and a step") {
    CHECK(suites::sent_bytes(chorus::ternary{}) == (1u << 18) + 16 + 4);
}
