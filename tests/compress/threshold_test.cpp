// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/threshold.hpp"

#include "suites/compressor_suite.hpp"

#include <cstddef>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using chorus::threshold;
using suites::floats;

TEST_CASE("threshold: all laws of a compressor") {
    suites::compressor_suite(threshold{0.6f});
    suites::compressor_suite(threshold{0.0f}, {.is_large_tried = false});
}

TEST_CASE("CMP-4: a rank that keeps nothing sends an empty message, and what others kept arrives at its index") {
    floats ranks[] = {floats(9, 1e-9f), floats(9, 0.0f), floats(9, 0.0f)};
    ranks[1][4] = 5.0f;
    for (auto layout : {chorus::index_layout::plain, chorus::index_layout::packed}) {
        threshold c{1.0f};
        c.indices = layout;
        floats total(9), empty(9);
        for (floats const& x : ranks) {
            auto const wire = suites::encoded(c, x);
            CHECK(wire.size() == (x[4] == 5.0f ? (layout == chorus::index_layout::plain ? 24u : 22u) : 16u));
            c.decode_add(wire, total);
        }
        CHECK(total == floats{0, 0, 0, 0, 5, 0, 0, 0, 0});
        for (floats const& x : {ranks[0], ranks[2]}) c.decode_add(suites::encoded(c, x), empty);
        CHECK(empty == floats(9));
    }
}

TEST_CASE("exactly the elements of at least that magnitude are sent, whatever their signs and however many") {
    for (std::size_t count : {1u, 100u, 4096u, 4097u, 20000u}) {
        floats x = suites::drawn(count, 1);
        for (std::size_t i = 0; i < count; i += 3) x[i] = i % 2 == 0 ? 0.5f : -0.5f;
        for (float least : {0.0f, 0.5f, 0.9f, 2.0f}) {
            floats expected = x;
            for (float& v : expected)
                if (!(v >= least || v <= -least)) v = 0;
            threshold c{least};
            bool const is_right = suites::decoded(c, suites::encoded(c, x), count) == expected;
            CHECK_MESSAGE(is_right, count, " elements from ", least);
        }
    }
    threshold all_below{1.0f};
    CHECK(suites::encoded(all_below, floats(100, -0.5f)).size() == 16);
}

TEST_CASE("a threshold that is negative, infinite or NaN is refused, also if it is set later") {
    for (float wrong : {-1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
        CHECK(suites::unlike(chorus::errc::invalid_argument, {"threshold"}, [&] { threshold{wrong}; }) == "");
        threshold c{1.0f};
        c.least = wrong;
        CHECK(suites::unlike(chorus::errc::invalid_argument, {"threshold"}, [&] { suites::encoded(c, floats(3)); }) == "");
    }
}
