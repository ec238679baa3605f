// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/random_k.hpp"

#include "suites/compressor_suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <set>

#include <doctest/doctest.h>

using chorus::random_k;
using suites::floats;

namespace {

random_k scaled(double ratio) {
    random_k c{ratio, 3};
    c.is_scaled = true;
    return c;
}

}  // namespace

TEST_CASE("random_k: all laws of a compressor") {
    suites::compressor_suite(random_k{0.4, 1}, {.suffering = 0});
}

TEST_CASE("random_k, scaled: all laws of a compressor") {
    suites::compressor_suite(scaled(0.4), {.suffering = 0, .is_large_tried = false});
}

TEST_CASE("CMP-2: ranks of one seed draw the same indices in a step and others in the next; another seed's messages are refused") {
    constexpr std::size_t count = 1000, steps = 50;
    random_k ranks[] = {random_k{0.01, 7}, random_k{0.01, 7}, random_k{0.01, 7}, random_k{0.01, 7}};
    random_k stranger{0.01, 8};
    floats ramp(count);
    for (std::size_t i = 0; i < count; ++i) ramp[i] = static_cast<float>(i + 1);
    std::set<floats> seen;
    for (std::size_t step = 0; step < steps; ++step) {
        auto const first = suites::encoded(ranks[0], ramp);
        for (random_k& other : {std::ref(ranks[1]), std::ref(ranks[2]), std::ref(ranks[3])}) {
            bool const is_same = suites::encoded(other, ramp) == first;
            CHECK(is_same);
        }
        floats const result = suites::decoded(ranks[3], first, count);
        CHECK(std::count_if(result.begin(), result.end(), [](float v) { return v != 0; }) == 10);
        CHECK(seen.insert(result).second);
        CHECK(suites::unlike(chorus::errc::corrupt, {"random_k", "another seed"}, [&] { suites::decoded(stranger, first, count); }) == "");
    }
}

TEST_CASE("a message is decoded whatever share its reader keeps, as after a change of the ratio") {
    random_k writer{0.5, 7};
    floats const x = suites::drawn(100, 1);
    auto const wire = suites::encoded(writer, x);
    bool const is_same = suites::decoded(random_k{0.1, 7}, wire, 100) == suites::decoded(writer, wire, 100);
    CHECK(is_same);
}

TEST_CASE("NAN-4: what is not finite is never left out in silence") {
    floats x = suites::drawn(1000, 1);
    x[500] = suites::float_limits::infinity();
    random_k c{0.5, 2};
    int everywhere = 0, there = 0;
    for (int step = 0; step < 40; ++step) {
        floats const result = suites::decoded(c, suites::encoded(c, x), x.size());
        auto const bad = std::count_if(result.begin(), result.end(), [](float v) { return !std::isfinite(v); });
        if (bad == 1) there += std::isinf(result[500]);
        else everywhere += bad == 1000;
    }
    CHECK(there + everywhere == 40);
    CHECK((there > 5 && everywhere > 5));
}

TEST_CASE("what is scaled overflows to infinity, or to the largest value where it is sanitised") {
    random_k c = scaled(0.5);
    floats const huge(4, suites::float_limits::max());
    floats const result = suites::decoded(c, suites::encoded(c, huge), 4);
    CHECK(std::count_if(result.begin(), result.end(), [](float v) { return std::isinf(v); }) == 2);
    c.on_nonfinite = chorus::nonfinite::sanitise;
    floats const clean = suites::decoded(c, suites::encoded(c, huge), 4);
    CHECK(std::count(clean.begin(), clean.end(), suites::float_limits::max()) == 2);
}
