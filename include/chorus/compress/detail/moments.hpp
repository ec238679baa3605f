// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/data/detail/kernel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace chorus::detail {

/// Mean and standard deviation of the finite elements, the others counting as 0.
struct moments {
    double mean = 0.0;
    double deviation = 0.0;
};

/// Sums of the elements and of their squares in double, in eight lanes whatever the instruction set: the squares are exact, and every sum is
/// made in the same order, so that the bits are the same on every machine.
struct moments_kernel {
    static constexpr std::size_t lanes = 8;
    using function = void (*)(float const* values, std::size_t count, double* sums, double* squares);

    template <instruction_set>
    [[gnu::always_inline]] static void run(float const* values, std::size_t count, double* sums, double* squares) {
        using single = vector_type<float, 4 * lanes>;
        using words = vector_type<std::int32_t, 4 * lanes>::type;
        using wide = vector_type<double, 8 * lanes>::type;
        wide sum = {}, square = {};
        std::size_t at = 0;
        for (; count - at >= lanes; at += lanes) {
            auto bits = reinterpret_cast<words>(reinterpret_cast<single::unaligned const*>(values + at)->value);
            bits &= (bits & 0x7FFFFFFF) < 0x7F800000;
            wide const x = __builtin_convertvector(reinterpret_cast<single::type>(bits), wide);
            sum += x;
            square += x * x;
        }
        for (std::size_t i = 0; i < lanes; ++i) {
            double const x = at + i < count && is_finite(values[at + i]) ? static_cast<double>(values[at + i]) : 0.0;
            sums[i] = sum[i] + x;
            squares[i] = square[i] + x * x;
        }
    }
};

inline moments moments_of(std::span<float const> dense) noexcept {
    double sums[moments_kernel::lanes], squares[moments_kernel::lanes];
    versions<moments_kernel, moments_kernel::function>::choose(current_instruction_set())(dense.data(), dense.size(), sums, squares);
    double sum = 0, square = 0;
    for (double each : sums) sum += each;
    for (double each : squares) square += each;
    double const count = static_cast<double>((std::max)(dense.size(), std::size_t{1}));
    // No product is added to: a compiler could fuse the two, and round differently from machine to machine.
    double const variance = square / count - sum * sum / (count * count);
    return {sum / count, std::sqrt((std::max)(variance, 0.0))};
}

}  // namespace chorus::detail
