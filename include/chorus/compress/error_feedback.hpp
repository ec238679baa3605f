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
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

/// What a residual is the distance from.
enum class approximation : std::uint8_t {
    own,      ///< what this rank's own message is decoded to; kept by `encode`
    averaged  ///< what all ranks together came to; kept by `settle`, which the caller calls after each exchange
};

/// How much of what was not sent is carried on, and against which approximation it is taken.
struct feedback_options {
    float decay = 1.0f;  ///< the part of the residual that is added to the next vector, from 0 to 1
    approximation against = approximation::own;
};

/// encode_rest does what encode does and leaves in `vector` what was not sent, without another pass: error feedback uses it where it is offered.
template <class C> concept rest_keeping_compressor =
    compressor<C> && requires(C& c, std::span<float> vector, std::span<std::byte> wire) {
        { c.encode_rest(vector, wire) } -> std::same_as<std::size_t>;
    };

/// Adds to each vector what earlier messages left out: x = input + decay · residual; sends C(x); residual = x - C(x).
///
/// layout    that of the compressor inside, which alone decodes
/// time      the compressor's, three passes to add, decode and subtract; one where it offers `encode_rest`
/// promise   none for a single message. Conserved: decoded + residual = x, to the bit where C is a selection, else within the rounding of a
///           subtraction. Summed over ranks the residuals are equal against either approximation.
/// NaN, Inf  as the compressor inside; x counts. A residual is always finite: where what was sent, or the vector, is not, nothing is kept.
/// state     the residual, 4 count bytes, and what the compressor inside has; another 4 count bytes of scratch
/// errors    `invalid_argument` for another count than that of the residual (see `reset`), and for a message before the last was settled
///
/// Seide et al., INTERSPEECH 2014, "1-bit stochastic gradient descent"; Karimireddy et al., ICML 2019, "Error feedback fixes SignSGD".
template <compressor Compressor>
class error_feedback : public detail::payload_of<Compressor> {
    static constexpr auto name_text = detail::nested_name<Compressor>("error_feedback");

 public:
    static constexpr std::string_view name{name_text.data(), name_text.size()};

    Compressor inner;

    explicit error_feedback(Compressor compressor = Compressor{}, feedback_options options = {})
        : inner{std::move(compressor)}, options_{options} {
        detail::expects(options.decay >= 0.0f && options.decay <= 1.0f, [&] {
            return std::string{name} + " was given a decay of " + std::to_string(options.decay) + ", expected 0 to 1";
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
        expect_ready(count);
        fill_corrected(dense);
        if constexpr (rest_keeping_compressor<Compressor>)
            if (options_.against == approximation::own) {
                std::size_t const used = inner.encode_rest(corrected_, wire);
                residual_.swap(corrected_);
                if (detail::first_nonfinite(residual_) != count)
                    for (float& kept : residual_) kept = detail::finite_or_zero(kept);
                return used;
            }
        std::size_t const used = inner.encode(corrected_, wire);
        is_unsettled_ = options_.against == approximation::averaged;
        if (!is_unsettled_) {
            residual_.resize(count);
            inner.decode(wire.first(used), residual_);
            subtract(residual_);
        }
        return used;
    }

    /// Instead of `encode`: x itself, for an exchange that is no message, such as the two rounds of low_rank. Valid until `settle`.
    std::span<float const> correct(std::span<float const> dense) {
        expect_ready(dense.size());
        fill_corrected(dense);
        is_unsettled_ = true;
        return corrected_;
    }

    /// After each `correct`, and each `encode` against the averaged approximation: keeps x - stand_in, where `stand_in` is this rank's part of what
    /// all together came to, or what they came to, averaged. Summed over ranks the residuals are equal.
    void settle(std::span<float const> stand_in) {
        detail::expects(is_unsettled_, [] { return std::string{name} + " has nothing to settle"; });
        detail::expects(stand_in.size() == corrected_.size(), [&] {
            return std::string{name} + " encoded " + std::to_string(corrected_.size()) + " elements and is settled with " +
                   std::to_string(stand_in.size());
        });
        residual_.resize(stand_in.size());
        subtract(stand_in);
        is_unsettled_ = false;
    }

    feedback_options const& options() const noexcept { return options_; }

    void decode(std::span<std::byte const> received, std::span<float> out) const { inner.decode(received, out); }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const { inner.decode_add(received, out); }

    /// Empty before the first message, which counts as zeros.
    std::span<float const> residual() const noexcept { return residual_; }

    /// Forgets the residual: the next vector may have any count. The compressor inside stays as it is.
    void reset() noexcept {
        residual_.clear();
        is_unsettled_ = false;
    }

    std::size_t state_bytes() const {
        return detail::state_seal_bytes + 16 + 4 * residual_.size() + detail::inner_state_bytes(inner);
    }
    void save_state(std::span<std::byte> saved) const {
        detail::expects(!is_unsettled_, [] { return std::string{name} + " cannot be saved before it is settled"; });
        detail::state_writer writer{saved, state_bytes(), name};
        writer.number(parameters());
        writer.number(residual_.size());
        writer.floats(residual_);
        writer.finish_with(inner);
    }
    /// Where there is a residual, one of another count is refused as well.
    void restore_state(std::span<std::byte const> saved) {
        detail::state_reader reader{saved, name};
        reader.expect(reader.number() == parameters(), [] { return "its decay or approximation is another"; });
        std::uint64_t const count = reader.number();
        reader.expect(residual_.empty() || count == 0 || count == residual_.size(), [&] {
            return "its residual has " + std::to_string(count) + " elements, this one " + std::to_string(residual_.size());
        });
        std::byte const* const values = reader.floats(count);
        std::vector<float> restored(static_cast<std::size_t>(count));
        detail::load_words(restored.data(), values, restored.size());
        reader.finish_with(inner);
        residual_.swap(restored);
        is_unsettled_ = false;
    }

 private:
    std::uint64_t parameters() const noexcept {
        return std::bit_cast<std::uint32_t>(options_.decay) | std::uint64_t{options_.against == approximation::averaged} << 32;
    }

    void expect_ready(std::size_t count) const {
        detail::expects(!is_unsettled_, [] { return std::string{name} + " was given a vector before the last was settled"; });
        detail::expects(residual_.empty() || residual_.size() == count, [&] {
            return std::string{name} + " holds the residual of " + std::to_string(residual_.size()) +
                   " elements and was given " + std::to_string(count) + "; one is for one tensor, and reset makes it forget";
        });
    }

    /// One element of x. The product is exact in double, so the bits do not depend on whether the processor fuses it.
    float corrected(float input, float kept) const noexcept {
        return static_cast<float>(static_cast<double>(options_.decay) * static_cast<double>(kept) + static_cast<double>(input));
    }

    void fill_corrected(std::span<float const> dense) {
        corrected_.resize(dense.size());
        residual_.reserve(dense.size());
        if (residual_.empty()) std::copy(dense.begin(), dense.end(), corrected_.begin());
        else if (options_.decay == 1.0f)
            for (std::size_t i = 0; i < dense.size(); ++i) corrected_[i] = dense[i] + residual_[i];
        else
            for (std::size_t i = 0; i < dense.size(); ++i) corrected_[i] = corrected(dense[i], residual_[i]);
        nonfinite const policy = detail::policy_of(inner);
        if (policy == nonfinite::propagate || detail::first_nonfinite(corrected_) == dense.size()) return;
        detail::refuse_nonfinite(corrected_, policy, name);
        for (std::size_t i = 0; i < dense.size(); ++i) {
            float const kept = residual_.empty() ? 0.0f : residual_[i];
            corrected_[i] = detail::sanitised(corrected(detail::sanitised(dense[i]), kept));
        }
    }

    /// residual = x - what it stands for, which may be the residual's own memory.
    void subtract(std::span<float const> sent) noexcept {
        for (std::size_t i = 0; i < sent.size(); ++i) residual_[i] = detail::finite_or_zero(corrected_[i] - sent[i]);
    }

    feedback_options options_;
    std::vector<float> residual_, corrected_;
    bool is_unsettled_ = false;
};

}  // namespace chorus
