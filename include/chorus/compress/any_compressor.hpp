// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"
#include "chorus/base/random.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/adaptor.hpp"
#include "chorus/compress/detail/compressor_text.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {

/// Gives random choices of its own, lest the errors of all ranks point the same way. Linear ones keep theirs: what they
/// choose must be chosen on all ranks.
template <class C>
void choose_by(C& c, std::uint64_t number) {
    if constexpr (linear_compressor<C>) return;
    else if constexpr (requires { c.choose_apart(number); }) c.choose_apart(number);
    else if constexpr (requires { c.inner; }) choose_by(c.inner, number);
    else if constexpr (requires { c.seed = number; }) c.seed = counter_random::mix(c.seed ^ counter_random::mix(number + 1));
}

class compressor_model {
 public:
    virtual ~compressor_model() = default;
    virtual std::unique_ptr<compressor_model> copy() const = 0;
    virtual std::string_view kind() const = 0;
    virtual std::string describe() const = 0;
    virtual bool is_linear() const = 0;
    virtual nonfinite policy() const = 0;
    virtual void choose_apart(std::uint64_t number) = 0;
    virtual std::size_t max_wire_bytes(std::size_t count) const = 0;
    virtual compression_promise promise(std::size_t count) const = 0;
    virtual std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) = 0;
    virtual std::size_t encode_rest(std::span<float> vector, std::span<std::byte> wire, std::vector<float>& scratch) = 0;
    virtual void decode(std::span<std::byte const> received, std::span<float> out) const = 0;
    virtual void decode_add(std::span<std::byte const> received, std::span<float> out) const = 0;
    virtual std::size_t state_bytes() const = 0;
    virtual void save_state(std::span<std::byte> saved) const = 0;
    virtual void restore_state(std::span<std::byte const> saved) = 0;
};

template <class C>
class compressor_model_of final : public compressor_model {
 public:
    compressor_model_of(C c, std::string text) : c_{std::move(c)}, text_{std::move(text)} {}

    std::unique_ptr<compressor_model> copy() const override { return std::make_unique<compressor_model_of>(c_, text_); }
    std::string_view kind() const override { return C::name; }
    std::string describe() const override { return text_.empty() ? described_compressor(c_) : text_; }
    bool is_linear() const override { return linear_compressor<C>; }
    nonfinite policy() const override { return policy_of(c_); }
    void choose_apart(std::uint64_t number) override { choose_by(c_, number); }
    std::size_t max_wire_bytes(std::size_t count) const override { return c_.max_wire_bytes(count); }
    compression_promise promise(std::size_t count) const override { return c_.promise(count); }
    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) override { return c_.encode(dense, wire); }
    std::size_t encode_rest(std::span<float> vector, std::span<std::byte> wire, std::vector<float>& scratch) override {
        if constexpr (requires { c_.encode_rest(vector, wire); }) {
            return c_.encode_rest(vector, wire);
        } else {
            std::size_t const used = c_.encode(vector, wire);
            scratch.resize(vector.size());
            c_.decode(wire.first(used), scratch);
            for (std::size_t i = 0; i < vector.size(); ++i) vector[i] -= scratch[i];
            return used;
        }
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const override { c_.decode(received, out); }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const override {
        c_.decode_add(received, out);
    }
    std::size_t state_bytes() const override {
        if constexpr (stateful_compressor<C>) return c_.state_bytes();
        else return 0;
    }
    void save_state([[maybe_unused]] std::span<std::byte> saved) const override {
        if constexpr (stateful_compressor<C>) c_.save_state(saved);
    }
    void restore_state(std::span<std::byte const> saved) override {
        if constexpr (stateful_compressor<C>) c_.restore_state(saved);
        else if (!saved.empty())
            raise(errc::corrupt, std::string{C::name} + " has no state and was given " + std::to_string(saved.size()) +
                                     " bytes of it");
    }

 private:
    C c_;
    std::string text_;  ///< what `describe` says, where that was given
};

}  // namespace detail

/// Any compressor that can be copied as one ordinary type, for choices made at run time. A copy has a state of its own, and
/// allocates. All else is as the compressor inside has it; one without state has one of no bytes.
class any_compressor {
 public:
    static constexpr std::string_view name = "any_compressor";

    /// Asks the type for no more than a name: whether error_feedback<any_compressor> is movable, which every compressor is,
    /// depends on whether it can be converted to any_compressor.
    template <class C>
        requires(!std::same_as<std::remove_cvref_t<C>, any_compressor>) && requires { std::remove_cvref_t<C>::name; }
    any_compressor(C&& c, std::string description = {})
        : model_{std::make_unique<detail::compressor_model_of<std::remove_cvref_t<C>>>(std::forward<C>(c),
                                                                                       std::move(description))} {
        static_assert(compressor<std::remove_cvref_t<C>> && std::copy_constructible<std::remove_cvref_t<C>>);
    }

    any_compressor(any_compressor const& other) : model_{other.model_->copy()} {}
    any_compressor(any_compressor&&) noexcept = default;
    any_compressor& operator=(any_compressor const& other) { return *this = any_compressor{other}; }
    any_compressor& operator=(any_compressor&&) noexcept = default;
    ~any_compressor() = default;

    /// The name of the compressor inside.
    std::string_view kind() const { return model_->kind(); }

    /// The same with the parameters that differ from their defaults, "block_integer(bits=4)", or what the constructor was
    /// given; `compressor_named` reads it. Options of a compressor around another are told only by `compressor_named`'s.
    std::string describe() const { return model_->describe(); }

    /// Whether it is a linear_compressor; this type is none itself.
    bool is_linear() const { return model_->is_linear(); }

    /// What it does with values that are not finite.
    nonfinite policy() const { return model_->policy(); }

    /// Random choices that differ from those of other numbers; nothing for linear ones, which choose alike on all ranks.
    void choose_apart(std::uint64_t number) { model_->choose_apart(number); }

    std::size_t max_wire_bytes(std::size_t count) const { return model_->max_wire_bytes(count); }
    compression_promise promise(std::size_t count) const { return model_->promise(count); }
    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) { return model_->encode(dense, wire); }

    /// As `encode`, and leaves in `vector` what was not sent. Needs 4 count bytes of scratch where the compressor inside
    /// cannot do it by itself.
    std::size_t encode_rest(std::span<float> vector, std::span<std::byte> wire) {
        return model_->encode_rest(vector, wire, scratch_);
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const { model_->decode(received, out); }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const { model_->decode_add(received, out); }

    std::size_t state_bytes() const { return model_->state_bytes(); }
    void save_state(std::span<std::byte> saved) const { model_->save_state(saved); }
    void restore_state(std::span<std::byte const> saved) { model_->restore_state(saved); }

 private:
    std::unique_ptr<detail::compressor_model> model_;
    std::vector<float> scratch_;
};
static_assert(stateful_compressor<any_compressor>);

}  // namespace chorus
