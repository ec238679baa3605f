// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/gaussian_top_k.hpp"

#include "suites/compressor_suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

using chorus::gaussian_top_k;
using suites::floats;

namespace {

constexpr double least = 0.75, most = 1.25;

/// How many are sent, or 0 if any that is left out is larger than one that is sent.
std::size_t sent(double ratio, floats const& x) {
    gaussian_top_k c{ratio};
    floats const result = suites::decoded(c, suites::encoded(c, x), x.size());
    float smallest_sent = suites::float_limits::infinity(), largest_left = 0;
    std::size_t many = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        if (result[i] != 0) {
            smallest_sent = (std::min)(smallest_sent, std::abs(x[i]));
            ++many;
        } else largest_left = (std::max)(largest_left, std::abs(x[i]));
    return largest_left <= smallest_sent ? many : 0;
}

}  // namespace

TEST_CASE("gaussian_top_k: all laws of a compressor") { suites::compressor_suite(gaussian_top_k{0.1}); }

TEST_CASE("gaussian_top_k: about k are sent, and none that is left out is larger") {
    for (std::size_t count : {50u, 4000u, 30000u, 150001u}) {
        floats const random = suites::drawn(count, count);
        floats cubes(count), rising(count), steps(count), two(count, 1e-3f), far(count);
        for (std::size_t i = 0; i < count; ++i) {
            cubes[i] = random[i] * random[i] * random[i];
            rising[i] = static_cast<float>(i + 1);
            steps[i] = std::ceil(std::abs(random[i]) * 4);
            far[i] = 100 + random[i];
        }
        two[count / 2] = 1e6f;
        for (floats const& x : {random, cubes, rising, steps, two, far})
            for (double ratio : {0.004, 0.1, 0.5}) {
                double const k = static_cast<double>(gaussian_top_k{ratio}.kept(count)), many = static_cast<double>(sent(ratio, x));
                CHECK_MESSAGE((many >= std::floor(least * k) && many >= 1 && many <= most * k), many, " of ", count, " instead of ", k);
            }
    }
}
