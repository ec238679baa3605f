// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/adaptor.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/state_image.hpp"
#include "chorus/compress/detail/wire_header.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

/// What an element and a vector may reach; neither is limited unless told.
struct clip_limits {
    float element = std::numeric_limits<float>::infinity();  ///< magnitude that no element exceeds
    float norm = std::numeric_limits<float>::infinity();     ///< Euclidean norm that the vector does not exceed, but for rounding
};

/// Clips each rank's own vector before it is encoded: first every element, then all of them by one factor.
///
/// What is clipped off is lost in clipping{error_feedback{C}}, which bounds what enters the residual, and kept for later messages in
/// error_feedback{clipping{C}}, which bounds what is sent. In a sum over p ranks a norm of limit / √p each bounds that of independent vectors.
///
/// layout    that of the compressor inside, which alone decodes
/// time      the compressor's and three passes
/// promise   that of the compressor inside while both limits are infinite, otherwise none
/// NaN, Inf  under propagate they pass unclipped and count for no norm; otherwise as the compressor inside
/// state     what the compressor inside has; 4 count bytes of scratch
template <compressor Compressor>
class clipping : public detail::payload_of<Compressor> {
    static constexpr auto name_text = detail::nested_name<Compressor>("clipping");

 public:
    static constexpr std::string_view name{name_text.data(), name_text.size()};

    Compressor inner;

    explicit clipping(Compressor compressor = Compressor{}, clip_limits limits = {})
        : inner{std::move(compressor)}, limits_{limits} {
        detail::expects(limits.element > 0.0f && limits.norm > 0.0f, [&] {
            return std::string{name} + " was given limits of " + std::to_string(limits.element) + " for elements and " +
                   std::to_string(limits.norm) + " for the norm, expected above 0";
        });
    }

    std::size_t max_wire_bytes(std::size_t count) const { return inner.max_wire_bytes(count); }
    std::size_t payload_count(std::size_t count) const requires linear_compressor<Compressor> {
        return inner.payload_count(count);
    }
    compression_promise promise(std::size_t count) const {
        constexpr float none = std::numeric_limits<float>::infinity();
        bool const is_off = limits_.element == none && limits_.norm == none;
        return is_off ? inner.promise(count) : detail::range_alone(inner.promise(count));
    }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        detail::expect_room(wire, max_wire_bytes(dense.size()), name);
        nonfinite const policy = detail::policy_of(inner);
        detail::refuse_nonfinite(dense, policy, name);
        clipped_.resize(dense.size());
        for (std::size_t i = 0; i < dense.size(); ++i) {
            float const value = policy == nonfinite::sanitise ? detail::sanitised(dense[i]) : dense[i];
            float const bounded = (std::min)((std::max)(value, -limits_.element), limits_.element);
            clipped_[i] = detail::is_finite(value) ? bounded : value;
        }
        scale_to_norm();
        return inner.encode(clipped_, wire);
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const { inner.decode(received, out); }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const { inner.decode_add(received, out); }

    std::size_t state_bytes() const requires stateful_compressor<Compressor> {
        return detail::state_seal_bytes + 8 + inner.state_bytes();
    }
    void save_state(std::span<std::byte> saved) const requires stateful_compressor<Compressor> {
        detail::state_writer writer{saved, state_bytes(), name};
        writer.number(parameters());
        writer.finish_with(inner);
    }
    void restore_state(std::span<std::byte const> saved) requires stateful_compressor<Compressor> {
        detail::state_reader reader{saved, name};
        reader.expect(reader.number() == parameters(), [] { return "its limits are others"; });
        reader.finish_with(inner);
    }

 private:
    std::uint64_t parameters() const noexcept {
        return std::bit_cast<std::uint32_t>(limits_.element) | std::uint64_t{std::bit_cast<std::uint32_t>(limits_.norm)} << 32;
    }

    void scale_to_norm() noexcept {
        if (!detail::is_finite(limits_.norm)) return;
        double const norm = std::sqrt(finite_square_sum());
        if (norm <= static_cast<double>(limits_.norm)) return;
        double const factor = static_cast<double>(limits_.norm) / norm;
        for (float& value : clipped_) value = static_cast<float>(static_cast<double>(value) * factor);
    }

    /// In eight running sums, whatever the instruction set. Squares of floats are exact in double, and their sum cannot overflow.
    double finite_square_sum() const noexcept {
        double sums[8] = {};
        for (std::size_t i = 0; i < clipped_.size(); ++i) {
            double const value = static_cast<double>(detail::finite_or_zero(clipped_[i]));
            sums[i % 8] += value * value;
        }
        return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    }

    clip_limits limits_;
    std::vector<float> clipped_;
};

}  // namespace chorus
