// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/detail/sparsifier.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace chorus {

/// Sends every element whose magnitude is at least `least`, be it none or all.
///
/// wire 16 + 8·sent bytes, plain: at worst twice the input | two passes | biased: wrap in error_feedback | no allocation after the first call
///
/// Promises no contraction, since all elements may lie below. Nothing that is not finite lies below.
class threshold : public detail::sparsifier<threshold> {
 public:
    static constexpr std::string_view name = "threshold";

    float least;

    /// Raises `invalid_argument` unless 0 ≤ least and it is finite.
    explicit threshold(float least_magnitude = 1e-3f) : least{least_magnitude} { expect_sensible(); }

    std::size_t max_wire_bytes(std::size_t count) const { return detail::sparse_wire::max_bytes(indices, count, count); }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        expect_sensible();
        expect_encodable(dense.size(), wire, max_wire_bytes(dense.size()));
        picked_.reserve(0, dense.size());
        std::size_t many = 0;
        bool is_finite = true;
        for_each_picked(dense, [&](std::span<std::uint32_t const> places, std::span<float const> values) {
            many += places.size();
            is_finite = is_finite && detail::first_nonfinite(values) == values.size();
        });
        if (!is_finite) detail::refuse_nonfinite(dense, on_nonfinite, name);
        detail::sparse_writer writer{wire, indices, many, dense.size()};
        for_each_picked(dense, [&](std::span<std::uint32_t const> places, std::span<float const> values) { writer.add(places, values); });
        return writer.finish();
    }

    compression_promise promise(std::size_t count) const {
        bool const is_lossless = least == 0.0f || count == 0;
        return {.is_unbiased = is_lossless, .contraction = is_lossless ? 1.0 : 0.0, .is_selection = true};
    }

 private:
    void expect_sensible() const {
        detail::expects(least >= 0.0f && detail::is_finite(least), [&] {
            return "threshold needs a finite magnitude that is not negative and was given " + std::to_string(least);
        });
    }

    template <class F>
    void for_each_picked(std::span<float const> dense, F const& f) noexcept {
        constexpr std::size_t block = detail::candidates::block;
        for (std::size_t at = 0; at < dense.size(); at += block) {
            picked_.clear();
            auto const part = dense.subspan(at, (std::min)(block, dense.size() - at));
            picked_.gather_block(part, static_cast<std::uint32_t>(at), detail::magnitude_of(least), on_nonfinite);
            f(std::span{picked_.indices(), picked_.size()}, picked_.values());
        }
    }

    detail::candidates picked_;
};
static_assert(compressor<threshold>);

}  // namespace chorus
