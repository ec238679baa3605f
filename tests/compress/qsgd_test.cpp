// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/qsgd.hpp"

#include "suites/compressor_suite.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

TEST_CASE("qsgd: all laws of a compressor, for every width") {
    for (std::uint32_t levels : {127u, 7u, 1u}) {
        CAPTURE(levels);
        suites::compressor_suite(chorus::qsgd{.levels = levels, .block = levels > 7 ? 512u : 16u},
                                 {.suffering = levels > 7 ? 512u : 16u, .is_large_tried = levels == 127});
    }
}

TEST_CASE("qsgd has what it cannot do refused") {
    suites::message_bytes wire(1000);
    suites::floats const x(4);
    auto refused = [&](chorus::qsgd c, char const* words) {
        CHECK(suites::unlike(chorus::errc::invalid_argument, {words}, [&] { c.encode(x, wire); }) == "");
    };
    refused({.levels = 0}, "1 to 127 levels, not 0");
    refused({.levels = 128}, "1 to 127 levels, not 128");
    refused({.block = 24}, "a multiple of 16 elements, not of 24");
}

TEST_CASE("qsgd: the next message has other choices, another seed too, the same seed the same") {
    auto const x = suites::drawn(1000, 1);
    chorus::qsgd c{.levels = 7}, same{.levels = 7}, other{.levels = 7, .seed = 1};
    auto const first = suites::encoded(c, x), second = suites::encoded(c, x);
    CHECK(first == suites::encoded(same, x));
    CHECK(first != second);
    CHECK(first != suites::encoded(other, x));
}

TEST_CASE("CMP-3: 2^20 floats take 1 MiB, and a header and steps of at most 1 %") {
    CHECK(suites::sent_bytes(chorus::qsgd{}) == (1u << 20) + 16 + 4 * 2048);
    CHECK(suites::sent_bytes(chorus::qsgd{.levels = 7}) == (1u << 19) + 16 + 4 * 2048);
    CHECK(suites::sent_bytes(chorus::qsgd{.levels = 1}) == (1u << 18) + 16 + 4 * 2048);
}
