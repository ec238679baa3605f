// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace chorus::detail {

/// The entries of a sparse vector, ascending by index, each index once.
struct sparse_entries {
    std::span<std::uint32_t const> indices;
    std::span<float const> values;

    std::size_t size() const noexcept { return indices.size(); }
};

/// The sum of two sparse vectors: what only one of them holds keeps its bits, what both hold is left + right. `indices` and `values` have room for
/// left.size() + right.size() entries and overlap neither. Returns how many entries there are. One step per entry, without branches.
inline std::size_t merge_add(sparse_entries left, sparse_entries right, std::uint32_t* indices, float* values) noexcept {
    std::size_t l = 0, r = 0, many = 0;
    while (l < left.size() && r < right.size()) {
        std::uint32_t const a = left.indices[l], b = right.indices[r];
        float const x = left.values[l], y = right.values[r];
        float const one = a < b ? x : y;
        indices[many] = a < b ? a : b;
        values[many] = a == b ? x + y : one;
        l += a <= b;
        r += b <= a;
        ++many;
    }
    auto const append = [&](sparse_entries rest, std::size_t from) {
        std::copy(rest.indices.begin() + static_cast<std::ptrdiff_t>(from), rest.indices.end(), indices + many);
        std::copy(rest.values.begin() + static_cast<std::ptrdiff_t>(from), rest.values.end(), values + many);
        many += rest.size() - from;
    };
    append(left, l);
    append(right, r);
    return many;
}

}  // namespace chorus::detail
