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
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

/// Which momentum is taken, and whether what was sent starts anew.
struct momentum_options {
    float momentum = 0.9f;      ///< from 0 to below 1; 0 is error feedback
    bool is_nesterov = false;   ///< looks one step ahead
    bool masks_factors = true;  ///< an element that was sent starts its momentum anew: no stale direction is carried on
};

/// Momentum taken before compression, so that what is sent late has gathered the momentum it would have had: u ← m·u + g; v ← v + u; sends C(v);
/// v ← v - C(v), and u ← 0 where something was sent. With Nesterov's momentum u ← m·(u + g); v ← v + u + g. The optimiser behind it must use none.
///
/// Takes the place of error_feedback, whose residual is v: conserved is decoded + v = old v + u, to the bit where C is a selection.
///
/// layout    that of the compressor inside, which alone decodes
/// time      the compressor's and three passes
/// promise   none for a single message
/// NaN, Inf  as the compressor inside; v counts. u and v are always finite: what is not is sent once and not kept.
/// state     u and v, 8 count bytes, and what the compressor inside has; another 8 count bytes of scratch
/// errors    `invalid_argument` for another count than before (see `reset`), and for masking where C is no selection: all is sent always,
///           so that nothing would have momentum
///
/// Lin et al., ICLR 2018, "Deep gradient compression". Its clipping goes outside: clipping{momentum_correction{top_k{}}, {.norm = 1}}.
template <compressor Compressor>
class momentum_correction : public detail::payload_of<Compressor> {
    static constexpr auto name_text = detail::nested_name<Compressor>("momentum_correction");

 public:
    static constexpr std::string_view name{name_text.data(), name_text.size()};

    Compressor inner;

    explicit momentum_correction(Compressor compressor = Compressor{}, momentum_options options = {})
        : inner{std::move(compressor)}, options_{options} {
        detail::expects(options.momentum >= 0.0f && options.momentum < 1.0f, [&] {
            return std::string{name} + " was given a momentum of " + std::to_string(options.momentum) + ", expected 0 to below 1";
        });
    }

    std::size_t max_wire_bytes(std::size_t count) const { return inner.max_wire_bytes(count); }
    std::size_t payload_count(std::size_t count) const requires linear_compressor<Compressor> {
        return inner.payload_count(count);
    }
    compression_promise promise(std::size_t count) const { return detail::range_alone(inner.promise(count)); }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        std::size_t const count = dense.size();
        detail::expect_room(wire, max_wire_bytes(count), name);
        expect_fitting(count);
        next_velocity_.resize(count);
        accumulated_.resize(count);
        velocity_.reserve(count);
        unsent_.reserve(count);
        accumulate(dense);
        std::size_t const used = inner.encode(accumulated_, wire);
        velocity_.resize(count);
        unsent_.resize(count);
        inner.decode(wire.first(used), unsent_);
        for (std::size_t i = 0; i < count; ++i) {
            bool const is_masked = options_.masks_factors && unsent_[i] != 0.0f;
            velocity_[i] = is_masked ? 0.0f : detail::finite_or_zero(next_velocity_[i]);
            unsent_[i] = detail::finite_or_zero(accumulated_[i] - unsent_[i]);
        }
        return used;
    }

    void decode(std::span<std::byte const> received, std::span<float> out) const { inner.decode(received, out); }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const { inner.decode_add(received, out); }

    std::span<float const> velocity() const noexcept { return velocity_; }  ///< u; empty before the first message
    std::span<float const> unsent() const noexcept { return unsent_; }      ///< v; empty before the first message

    /// Forgets u and v: the next vector may have any count. The compressor inside stays as it is.
    void reset() noexcept {
        velocity_.clear();
        unsent_.clear();
    }

    std::size_t state_bytes() const {
        return detail::state_seal_bytes + 16 + 8 * unsent_.size() + detail::inner_state_bytes(inner);
    }
    void save_state(std::span<std::byte> saved) const {
        detail::state_writer writer{saved, state_bytes(), name};
        writer.number(parameters());
        writer.number(unsent_.size());
        writer.floats(velocity_);
        writer.floats(unsent_);
        writer.finish_with(inner);
    }
    /// Where there are u and v, others of another count are refused as well.
    void restore_state(std::span<std::byte const> saved) {
        detail::state_reader reader{saved, name};
        reader.expect(reader.number() == parameters(), [] { return "its momentum is another"; });
        std::uint64_t const count = reader.number();
        reader.expect(unsent_.empty() || count == 0 || count == unsent_.size(), [&] {
            return "it is of " + std::to_string(count) + " elements, this one of " + std::to_string(unsent_.size());
        });
        std::byte const* const velocities = reader.floats(count);
        std::byte const* const rest = reader.floats(count);
        std::vector<float> velocity(static_cast<std::size_t>(count)), unsent(velocity.size());
        detail::load_words(velocity.data(), velocities, velocity.size());
        detail::load_words(unsent.data(), rest, unsent.size());
        reader.finish_with(inner);
        velocity_.swap(velocity);
        unsent_.swap(unsent);
    }

 private:
    std::uint64_t parameters() const noexcept {
        return std::bit_cast<std::uint32_t>(options_.momentum) | std::uint64_t{options_.is_nesterov} << 32 |
               std::uint64_t{options_.masks_factors} << 33;
    }

    void expect_fitting(std::size_t count) const {
        detail::expects(unsent_.empty() || unsent_.size() == count, [&] {
            return std::string{name} + " holds the momentum of " + std::to_string(unsent_.size()) + " elements and was given " +
                   std::to_string(count) + "; one is for one tensor, and reset makes it forget";
        });
        detail::expects(!options_.masks_factors || inner.promise(count).is_selection, [] {
            return std::string{name} + " masks what was sent, but " + std::string{Compressor::name} +
                   " does not send a selection: switch masks_factors off";
        });
    }

    /// One element of u and of v, before anything is sent. Products are exact in double: no bit depends on fused operations.
    void advance(std::size_t i, float gradient) noexcept {
        double const m = static_cast<double>(options_.momentum), g = static_cast<double>(gradient);
        double const u = velocity_.empty() ? 0.0 : static_cast<double>(velocity_[i]);
        float const ahead = options_.is_nesterov ? static_cast<float>(m * static_cast<double>(static_cast<float>(u + g)))
                                                 : static_cast<float>(m * u + g);
        float const added = options_.is_nesterov ? ahead + gradient : ahead;
        next_velocity_[i] = ahead;
        accumulated_[i] = unsent_.empty() ? added : unsent_[i] + added;
    }

    void accumulate(std::span<float const> dense) {
        for (std::size_t i = 0; i < dense.size(); ++i) advance(i, dense[i]);
        nonfinite const policy = detail::policy_of(inner);
        if (policy == nonfinite::propagate || detail::first_nonfinite(accumulated_) == dense.size()) return;
        detail::refuse_nonfinite(accumulated_, policy, name);
        for (std::size_t i = 0; i < dense.size(); ++i) {
            advance(i, detail::sanitised(dense[i]));
            next_velocity_[i] = detail::sanitised(next_velocity_[i]);
            accumulated_[i] = detail::sanitised(accumulated_[i]);
        }
    }

    momentum_options options_;
    std::vector<float> velocity_, unsent_;            // u and v
    std::vector<float> next_velocity_, accumulated_;  // the same while a message is made
};

}  // namespace chorus
