// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/adaptor.hpp"
#include "chorus/compress/detail/state_image.hpp"
#include "chorus/compress/detail/wire_header.hpp"

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace chorus {

/// Has a member `ratio`: the part of the elements that is kept.
template <class C> concept ratio_compressor =
    compressor<C> && requires(C& c) { requires std::same_as<decltype((c.ratio)), double&>; };

/// The first ratio, and how stages come down from it.
struct warm_up_options {
    double first_ratio = 0.25;      ///< that the first stage keeps, above 0 and at most 1
    double factor = 0.25;           ///< from stage to stage, above 0 and below 1
    step_id steps_per_stage = 100;  ///< messages of a stage, such as an epoch of training has; at least 1
};

/// Keeps much at first, then less: in stage s the larger of first_ratio · factor^s and the ratio that the compressor was given.
/// By multiplication alone, so all ranks have the same ratios. A step is one encode.
///
/// layout, promise, NaN, Inf  those of the compressor inside, as its ratio stands now
/// bytes     max_wire_bytes falls from stage to stage and is largest at the start
/// state     the number of steps, and what the compressor inside has
///
/// Lin et al., ICLR 2018, "Deep gradient compression", whose schedule is the default with an epoch as a stage.
template <ratio_compressor Compressor>
class warm_up : public detail::payload_of<Compressor> {
    static constexpr auto name_text = detail::nested_name<Compressor>("warm_up");

 public:
    static constexpr std::string_view name{name_text.data(), name_text.size()};

    Compressor inner;

    explicit warm_up(Compressor compressor = Compressor{}, warm_up_options options = {})
        : inner{std::move(compressor)}, options_{options}, last_ratio_{inner.ratio} {
        detail::expects(options.first_ratio > 0.0 && options.first_ratio <= 1.0 && options.factor > 0.0 && options.factor < 1.0 &&
                            options.steps_per_stage > 0, [&] {
            return std::string{name} + " was given a first ratio of " + std::to_string(options.first_ratio) +
                   " (expected above 0, at most 1), a factor of " + std::to_string(options.factor) +
                   " (above 0, below 1) and stages of " + std::to_string(options.steps_per_stage) + " steps (at least 1)";
        });
        if constexpr (requires { inner.entries != 0; })
            detail::expects(inner.entries == 0, [] {
                return std::string{name} + " sets the ratio of a compressor that keeps a fixed number of entries whatever it is";
            });
        inner.ratio = ratio_at(0);
    }

    /// What is kept of the vector of this step.
    double ratio_at(step_id step) const noexcept {
        double ratio = options_.first_ratio;
        for (step_id stage = step / options_.steps_per_stage; stage > 0 && ratio > last_ratio_; --stage) ratio *= options_.factor;
        return ratio > last_ratio_ ? ratio : last_ratio_;
    }
    /// Messages made so far.
    step_id step() const noexcept { return step_; }

    std::size_t max_wire_bytes(std::size_t count) const { return inner.max_wire_bytes(count); }
    std::size_t payload_count(std::size_t count) const requires linear_compressor<Compressor> {
        return inner.payload_count(count);
    }
    compression_promise promise(std::size_t count) const { return inner.promise(count); }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        detail::expect_room(wire, max_wire_bytes(dense.size()), name);
        std::size_t const used = inner.encode(dense, wire);
        inner.ratio = ratio_at(++step_);
        return used;
    }
    /// See rest_keeping_compressor.
    std::size_t encode_rest(std::span<float> vector, std::span<std::byte> wire)
        requires requires(Compressor& c) { c.encode_rest(vector, wire); } {
        detail::expect_room(wire, max_wire_bytes(vector.size()), name);
        std::size_t const used = inner.encode_rest(vector, wire);
        inner.ratio = ratio_at(++step_);
        return used;
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const { inner.decode(received, out); }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const { inner.decode_add(received, out); }

    std::size_t state_bytes() const { return detail::state_seal_bytes + 8 * 5 + detail::inner_state_bytes(inner); }
    void save_state(std::span<std::byte> saved) const {
        detail::state_writer writer{saved, state_bytes(), name};
        for (double each : {options_.first_ratio, options_.factor, last_ratio_}) writer.number(std::bit_cast<std::uint64_t>(each));
        writer.number(options_.steps_per_stage);
        writer.number(step_);
        writer.finish_with(inner);
    }
    void restore_state(std::span<std::byte const> saved) {
        detail::state_reader reader{saved, name};
        bool is_same = true;
        for (double each : {options_.first_ratio, options_.factor, last_ratio_})
            is_same &= reader.number() == std::bit_cast<std::uint64_t>(each);
        is_same &= reader.number() == options_.steps_per_stage;
        reader.expect(is_same, [] { return "its schedule is another"; });
        step_id const step = reader.number();
        reader.finish_with(inner);
        step_ = step;
        inner.ratio = ratio_at(step_);
    }

 private:
    warm_up_options options_;
    double last_ratio_;
    step_id step_ = 0;
};

}  // namespace chorus
