// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "training.hpp"

#include <chorus/chorus.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace trainer {

/// Median time in microseconds of one all-reduce, on the rank for which it is longest.
template <class Group>
double median_microseconds(Group const& world, std::span<float> vector, std::string_view algorithm,
                           std::size_t repeats) {
    auto reduce = plan_sum(world, vector, algorithm);
    std::vector<double> times;
    for (std::size_t i = 0; i < repeats + 2; ++i) {  // the first two only warm up
        stopwatch one;
        one.start();
        reduce.start();
        reduce.wait();
        times.push_back(one.stop() * 1e6);
    }
    auto const middle = times.begin() + 2 + static_cast<std::ptrdiff_t>(repeats / 2);
    std::nth_element(times.begin() + 2, middle, times.end());
    double median = *middle;
    chorus::all_reduce(world, std::span{&median, 1}, chorus::maximum{});
    return median;
}

/// Times all-reduces of 4 B … 4 MiB by several algorithms on these ranks; rank 0 prints the table.
template <chorus::transport Transport>
void print_all_reduce_times(Transport& net, bool quick) {
    constexpr std::array<std::string_view, 5> algorithms{"direct", "ring", "recursive_doubling", "rabenseifner",
                                                          "automatic"};
    constexpr std::size_t most_bytes = std::size_t{4} << 20;
    chorus::group world{net};
    bool const speaks = world.rank() == 0;
    if (speaks) {
        fmt::print("\nall-reduce of floats on the same ranks, median in microseconds\n{:>9}", "bytes");
        for (auto name : algorithms) fmt::print("  {:>{}}", name, (std::max)(name.size(), std::size_t{9}));
        fmt::print("\n");
    }
    std::vector<float> vector(most_bytes / sizeof(float));
    for (std::size_t bytes = 4; bytes <= most_bytes; bytes *= 16) {
        if (speaks) fmt::print("{:>9}", bytes);
        std::size_t const repeats = quick ? 3 : bytes <= 65536 ? 101 : 11;
        for (auto name : algorithms) {
            auto const part = std::span{vector}.first(bytes / sizeof(float));
            double const time = median_microseconds(world, part, name, repeats);
            if (speaks) fmt::print("  {:>{}.1f}", time, (std::max)(name.size(), std::size_t{9}));
        }
        if (speaks) fmt::print("\n");
    }
}

}  // namespace trainer
