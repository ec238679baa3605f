// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/wire_words.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace chorus::detail {

// Factors are stored column after column. Every sum is in double, in an order that depends on lengths alone, of products of two floats,
// which are exact there: whether a processor fuses them changes no bit.

/// Saturates: what is beyond the largest float becomes that.
inline float to_float(double value) noexcept {
    constexpr double most = static_cast<double>((std::numeric_limits<float>::max)());
    if (value > most) value = most;
    if (value < -most) value = -most;
    return static_cast<float>(value);
}

/// Sixteen running sums, added up in pairs.
inline double dot_product(float const* a, float const* b, std::size_t count) noexcept {
    constexpr std::size_t lanes = 16;
    double sums[lanes] = {};
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    for (std::size_t lane = 0; i + lane < count; ++lane) sums[lane] += static_cast<double>(a[i + lane]) * static_cast<double>(b[i + lane]);
    for (std::size_t half = lanes / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    return sums[0];
}

inline double euclidean_norm(float const* a, std::size_t count) noexcept { return std::sqrt(dot_product(a, a, count)); }

/// Of the bits without the sign, so that NaN is the largest of all; 0 of nothing.
inline float largest_size(std::span<float const> values) noexcept {
    std::uint32_t largest = 0;
    for (float value : values) largest = (std::max)(largest, std::bit_cast<std::uint32_t>(value) & 0x7FFFFFFFu);
    return std::bit_cast<float>(largest);
}

/// A vector as a matrix of rows of `columns` elements, the last of which may be shorter.
struct matrix_view {
    std::span<float const> elements;
    std::size_t columns;

    std::size_t rows() const noexcept { return (elements.size() + columns - 1) / columns; }
    std::span<float const> row(std::size_t i) const noexcept {
        return elements.subspan(i * columns, (std::min)(columns, elements.size() - i * columns));
    }
};

/// P = scale · M Q.
inline void matrix_product(matrix_view m, float const* q, std::uint32_t rank, double scale, float* p) noexcept {
    std::size_t const rows = m.rows();
    for (std::size_t i = 0; i < rows; ++i)
        for (std::uint32_t j = 0; j < rank; ++j)
            p[j * rows + i] = to_float(dot_product(m.row(i).data(), q + j * m.columns, m.row(i).size()) * scale);
}

/// Q = Mᵀ P. `sums` has room for rank · columns.
inline void transposed_product(matrix_view m, float const* p, std::uint32_t rank, double* sums, float* q) noexcept {
    std::size_t const rows = m.rows();
    std::fill_n(sums, rank * m.columns, 0.0);
    for (std::size_t i = 0; i < rows; ++i)
        for (std::uint32_t j = 0; j < rank; ++j) {
            double const factor = static_cast<double>(p[j * rows + i]);
            double* const sum = sums + j * m.columns;
            auto const row = m.row(i);
            for (std::size_t k = 0; k < row.size(); ++k) sum[k] += factor * static_cast<double>(row[k]);
        }
    for (std::size_t k = 0; k < rank * m.columns; ++k) q[k] = to_float(sums[k]);
}

/// A column of which no more than this part is left when those before it are taken away counts as one of them.
inline constexpr double dependent_part = 0x1p-18;

/// Makes the columns orthonormal, each against those before it (modified Gram–Schmidt, twice, which is enough). A column that is zero, or
/// depends on those before it to `dependent_part`, becomes zero. One with a value that is not finite becomes NaN, and all behind it.
inline void orthonormalise(float* columns, std::uint32_t rank, std::size_t length) noexcept {
    auto const divide = [length](float* column, double by) {
        for (std::size_t k = 0; k < length; ++k) column[k] = static_cast<float>(static_cast<double>(column[k]) / by);
    };
    for (std::uint32_t j = 0; j < rank; ++j) {
        float* const column = columns + j * length;
        double const before = euclidean_norm(column, length);
        if (before == 0.0) continue;
        divide(column, before);
        for (int pass = 0; pass < 2; ++pass)
            for (std::uint32_t other = 0; other < j; ++other) {
                float const* const base = columns + other * length;
                double const along = static_cast<double>(static_cast<float>(dot_product(column, base, length)));
                for (std::size_t k = 0; k < length; ++k)
                    column[k] = static_cast<float>(static_cast<double>(column[k]) - along * static_cast<double>(base[k]));
            }
        double const left = euclidean_norm(column, length);
        if (left <= dependent_part) std::fill_n(column, length, 0.0f);
        else divide(column, left);
    }
}

/// Draws anew each column that is zero or not finite: nearly normal numbers, the same for equal (seed, draw), each of exact arithmetic.
inline void replace_dead_columns(float* columns, std::uint32_t rank, std::size_t length, std::uint64_t seed, std::uint64_t draw) noexcept {
    for (std::uint32_t j = 0; j < rank; ++j) {
        float* const column = columns + j * length;
        double const square = dot_product(column, column, length);
        if (square > 0.0 && square <= (std::numeric_limits<double>::max)()) continue;
        counter_random const random{seed, draw * 256 + j};
        for (std::size_t k = 0; k < length; ++k) {
            std::uint64_t const bits = random.bits(k);
            std::uint64_t const sum = (bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) + (bits >> 48);
            column[k] = (static_cast<float>(sum) - 131070.0f) * 0x1p-16f;
        }
        double const all = euclidean_norm(column, length);
        for (std::size_t k = 0; k < length; ++k) column[k] = static_cast<float>(static_cast<double>(column[k]) / all);
    }
}

/// emit(index, value) for each element of P Qᵀ; the factors lie at any address.
template <class Emit>
void for_each_product(std::byte const* p, std::byte const* q, std::uint32_t rank, matrix_view shape, Emit const& emit) noexcept {
    constexpr std::size_t block = 256;
    std::size_t const rows = shape.rows();
    for (std::size_t i = 0; i < rows; ++i) {
        std::size_t const length = shape.row(i).size();
        for (std::size_t begin = 0; begin < length; begin += block) {
            std::size_t const many = (std::min)(block, length - begin);
            std::array<double, block> sums{};
            std::array<float, block> part;
            for (std::uint32_t j = 0; j < rank; ++j) {
                double const factor = static_cast<double>(load_word<float>(p, j * rows + i));
                load_words(part.data(), q + 4 * (j * shape.columns + begin), many);
                for (std::size_t k = 0; k < many; ++k) sums[k] += factor * static_cast<double>(part[k]);
            }
            for (std::size_t k = 0; k < many; ++k) emit(i * shape.columns + begin + k, to_float(sums[k]));
        }
    }
}

}  // namespace chorus::detail
