// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/detail/kept_share.hpp"
#include "chorus/compress/detail/sparsifier.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// Sends the k elements of largest magnitude, exactly, with their signs and bits; of equal magnitudes the ones of lower index.
///
/// wire 16 + 8k bytes, plain | one pass over the input, seldom two | biased: wrap in error_feedback | no allocation after the first call
///
/// A sample tells a magnitude that a little more than k elements reach. One pass collects those, and of them the k largest are found by radix. A misleading sample
/// costs time, never exactness: too many collected are cut back to the k largest as they come, too few are collected anew without a lower limit.
class top_k : public detail::kept_share, public detail::sparsifier<top_k> {
 public:
    static constexpr std::string_view name = "top_k";

    /// Raises `invalid_argument` for a ratio that is not above 0 and at most 1.
    explicit top_k(double kept_ratio = 0.01) : kept_share{kept_ratio, 0} { static_cast<void>(kept(0)); }

    /// Keeps so many, at least 1, of any vector.
    static top_k of(std::size_t kept_entries) {
        detail::expects(kept_entries != 0, [] { return "top_k must keep at least one entry"; });
        top_k made;
        made.entries = kept_entries;
        return made;
    }

    std::size_t max_wire_bytes(std::size_t count) const { return detail::sparse_wire::max_bytes(indices, kept(count), count); }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        std::size_t const count = dense.size(), k = kept(count);
        expect_encodable(count, wire, max_wire_bytes(count));
        picked_.reserve(k, count, sampled);
        if (k != 0) {
            picked_.gather(dense, lower_limit(dense, k), k, on_nonfinite);
            if (picked_.size() < k) {
                picked_.clear();
                picked_.gather(dense, 0, k, on_nonfinite);
            }
            if (picked_.size() > k) picked_.keep_largest(k);
        }
        return write(dense, picked_, wire);
    }

    compression_promise promise(std::size_t count) const {
        std::size_t const k = kept(count);
        double const share = count == 0 ? 1.0 : static_cast<double>(k) / static_cast<double>(count);
        return {.is_unbiased = k == count, .contraction = share, .is_selection = true};
    }

 private:
    static constexpr std::size_t sampled = 32768;

    /// A magnitude that at least k elements reach, but for one vector in some 30,000.
    detail::magnitude lower_limit(std::span<float const> dense, std::size_t k) noexcept {
        if (dense.size() < 4 * sampled) return 0;
        double const expected = static_cast<double>(k) / static_cast<double>(dense.size()) * sampled;
        double const rank = expected + 4.0 * std::sqrt(expected) + 1.0;
        if (rank >= sampled) return 0;
        auto const limit = picked_.sample(dense, sampled, static_cast<std::size_t>(rank), on_nonfinite);
        return (std::min)(limit, detail::infinite_magnitude);
    }

    detail::candidates picked_;
};
static_assert(compressor<top_k>);

}  // namespace chorus
