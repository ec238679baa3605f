// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

// The same loop for every peer: blocking all-reduces of float back to back, out of place, timed in batches as OSU does; the median batch counts.

namespace versus {

struct line {
    std::size_t bytes;
    double microseconds;
};

/// `all_reduce()` performs one operation of `bytes` bytes on this rank.
template <class Call>
line measure(std::size_t bytes, Call const& all_reduce) {
    std::size_t const batch = bytes <= 16 * 1024 ? 50 : 1;
    std::size_t const batches = bytes <= 16 * 1024 ? 200 : bytes <= 1024 * 1024 ? 200 : 15;
    for (std::size_t i = 0; i < batch * batches / 10 + 2; ++i) all_reduce();
    std::vector<double> samples;
    for (std::size_t b = 0; b < batches; ++b) {
        auto const begin = std::chrono::steady_clock::now();
        for (std::size_t i = 0; i < batch; ++i) all_reduce();
        std::chrono::duration<double, std::micro> const took = std::chrono::steady_clock::now() - begin;
        samples.push_back(took.count() / static_cast<double>(batch));
    }
    std::nth_element(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(batches / 2), samples.end());
    return {bytes, samples[batches / 2]};
}

inline void print(char const* name, int ranks, line const& measured) {
    std::printf("%s %d %zu %.3f\n", name, ranks, measured.bytes, measured.microseconds);
    std::fflush(stdout);
}

}  // namespace versus
