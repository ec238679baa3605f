// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/top_k.hpp"

#include "suites/compressor_suite.hpp"

#include <doctest/doctest.h>

TEST_CASE("top_k with packed indices: all laws of a compressor") {
    chorus::top_k packed{0.3};
    packed.indices = chorus::index_layout::packed;
    suites::compressor_suite(packed, {.is_large_tried = false});
    suites::compressor_suite(chorus::top_k::of(5), {.is_large_tried = false});
}

TEST_CASE("packed indices change nothing but the length of the message") {
    suites::floats const x = suites::drawn(100000, 1);
    chorus::top_k plain{0.01};
    chorus::top_k packed = plain;
    packed.indices = chorus::index_layout::packed;
    auto const longer = suites::encoded(plain, x), shorter = suites::encoded(packed, x);
    CHECK(longer.size() == 16 + 8 * 1000);
    CHECK(shorter.size() < 16 + 5.5 * 1000);
    bool const is_same = suites::decoded(plain, shorter, x.size()) == suites::decoded(packed, longer, x.size());
    CHECK(is_same);
}
