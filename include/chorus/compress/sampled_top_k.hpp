// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/detail/kept_share.hpp"
#include "chorus/compress/detail/sparsifier.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace chorus {

/// Sends about k elements of largest magnitude: all from a threshold on that a sample of 1 % tells (Lin et al., ICLR 2018, "Deep gradient compression").
///
/// wire 16 + 8·(0.8 k to 1.3 k) bytes, plain | the sample and one pass, and one more for each correction | biased: wrap in error_feedback
/// no allocation after the first call
///
/// Fewer than 0.8 k: the threshold is lowered by a fifth, up to ten times, then given up. More than 1.3 k: the k largest of them are sent. Equal input gives
/// equal bytes: the sample is drawn by position alone.
class sampled_top_k : public detail::kept_share, public detail::sparsifier<sampled_top_k> {
 public:
    static constexpr std::string_view name = "sampled_top_k";

    /// Raises `invalid_argument` for a ratio that is not above 0 and at most 1.
    explicit sampled_top_k(double kept_ratio = 0.01) : kept_share{kept_ratio, 0} { static_cast<void>(kept(0)); }

    std::size_t max_wire_bytes(std::size_t count) const { return detail::sparse_wire::max_bytes(indices, bounds(count).most, count); }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        std::size_t const count = dense.size();
        auto const about = bounds(count);
        expect_encodable(count, wire, max_wire_bytes(count));
        picked_.reserve(about.wanted, count, sampled(count));
        if (count != 0) picked_.gather_within(dense, limit(dense, about.wanted), about, most_corrections, on_nonfinite, &lower);
        return write(dense, picked_, wire);
    }

    compression_promise promise(std::size_t count) const {
        auto const about = bounds(count);
        double const share = count == 0 ? 1.0 : static_cast<double>(about.least) / static_cast<double>(count);
        return {.is_unbiased = about.least == count, .contraction = share, .is_selection = true};
    }

 private:
    static constexpr int most_corrections = 10;

    detail::kept_bounds bounds(std::size_t count) const {
        std::size_t const k = kept(count);
        return {k - k / 5, k, (std::min)(k + k * 3 / 10, count)};
    }

    /// 1 %, but at least 4096 elements, or all.
    static std::size_t sampled(std::size_t count) noexcept { return (std::min)(count, (std::max)(count / 100, std::size_t{4096})); }

    detail::magnitude limit(std::span<float const> dense, std::size_t k) noexcept {
        std::uint64_t const many = sampled(dense.size()), count = dense.size();
        std::uint64_t const rank = (std::max)((many * k + count / 2) / count, std::uint64_t{1});
        auto const found = picked_.sample(dense, static_cast<std::size_t>(many), static_cast<std::size_t>(rank), on_nonfinite);
        return (std::min)(found, detail::infinite_magnitude);
    }

    static detail::magnitude lower(detail::magnitude from, std::size_t) noexcept {
        return detail::magnitude_of(std::bit_cast<float>(from) * 0.8f);
    }

    detail::candidates picked_;
};
static_assert(compressor<sampled_top_k>);

}  // namespace chorus
