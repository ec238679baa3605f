// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/detail/kept_share.hpp"
#include "chorus/compress/detail/moments.hpp"
#include "chorus/compress/detail/normal_quantile.hpp"
#include "chorus/compress/detail/sparsifier.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>

namespace chorus {

/// Sends about k elements of largest magnitude: all from a threshold on, the quantile of the normal distribution with their mean and deviation
/// (Shi et al. 2019, "Understanding top-k sparsification in distributed deep learning").
///
/// wire 16 + 8·(¾ k to 5/4 k) bytes, plain | two passes, and one more for each correction | biased: wrap in error_feedback
/// no allocation after the first call
///
/// Fewer than ¾ k: the deviation is fitted anew to the tail that was found, up to four times, then the threshold is given up. More than 5/4 k: the k largest of
/// them are sent. top_k is faster unless the elements are close to normal, and never less exact.
class gaussian_top_k : public detail::kept_share, public detail::sparsifier<gaussian_top_k> {
 public:
    static constexpr std::string_view name = "gaussian_top_k";

    /// Raises `invalid_argument` for a ratio that is not above 0 and at most 1.
    explicit gaussian_top_k(double kept_ratio = 0.01) : kept_share{kept_ratio, 0} { static_cast<void>(kept(0)); }

    std::size_t max_wire_bytes(std::size_t count) const { return detail::sparse_wire::max_bytes(indices, bounds(count).most, count); }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        auto const about = bounds(dense.size());
        expect_encodable(dense.size(), wire, max_wire_bytes(dense.size()));
        picked_.reserve(about.wanted, dense.size());
        if (!dense.empty()) pick(dense, about);
        return write(dense, picked_, wire);
    }

    compression_promise promise(std::size_t count) const {
        auto const about = bounds(count);
        double const share = count == 0 ? 1.0 : static_cast<double>(about.least) / static_cast<double>(count);
        return {.is_unbiased = about.least == count, .contraction = share, .is_selection = true};
    }

 private:
    static constexpr int most_corrections = 4;

    detail::kept_bounds bounds(std::size_t count) const {
        std::size_t const k = kept(count);
        return {k - k / 4, k, (std::min)(k + k / 4, count)};
    }

    void pick(std::span<float const> dense, detail::kept_bounds about) noexcept {
        auto const fit = detail::moments_of(dense);
        double const wanted = detail::normal_quantile(about.wanted, dense.size());
        auto const centre = static_cast<float>(std::abs(fit.mean));
        auto spread = static_cast<float>(fit.deviation * wanted);
        auto const limit = [&] { return (std::min)(detail::magnitude_of(centre + spread), detail::infinite_magnitude); };
        picked_.gather_within(dense, limit(), about, most_corrections, on_nonfinite, [&](detail::magnitude, std::size_t found) {
            double const too_far = detail::normal_quantile((std::max)(found, std::size_t{1}), dense.size());
            spread = static_cast<float>(static_cast<double>(spread) * (wanted / too_far));
            return limit();
        });
    }

    detail::candidates picked_;
};
static_assert(compressor<gaussian_top_k>);

}  // namespace chorus
