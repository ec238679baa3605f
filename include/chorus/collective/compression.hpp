// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/random.hpp"
#include "chorus/collective/detail/block_codec.hpp"
#include "chorus/compress/compressor.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace chorus {

namespace detail {

/// Random choices of its own, lest the errors of all ranks and blocks point the same way. Linear compressors keep theirs: what they choose must be chosen on all ranks.
template <class C>
void choose_apart(C& c, std::uint64_t number) {
    if constexpr (linear_compressor<C>) return;
    else if constexpr (requires { choose_apart(c.inner, number); }) choose_apart(c.inner, number);
    else if constexpr (requires { c.seed = number; }) c.seed = counter_random::mix(c.seed ^ counter_random::mix(number + 1));
}

/// One copy of a compressor for every block that this rank encodes: each has its own residual, momentum and random choices.
template <compressor C>
class block_codec_of final : public block_codec {
 public:
    explicit block_codec_of(C prototype) : prototype_{std::move(prototype)} {}

    void expect_blocks(std::size_t blocks, std::uint64_t rank) override {
        for (std::size_t b = by_block_.size(); b < blocks; ++b) {
            by_block_.push_back(prototype_);
            choose_apart(by_block_.back(), rank << 32 | b);
        }
    }
    std::size_t message_bytes(std::size_t count) const override { return framed_message::bytes_for(prototype_, count); }
    void encode(std::size_t block, std::span<float const> values, std::byte* message) override {
        framed_message::encode(by_block_[block], values, message);
    }
    void decode(std::byte const* message, std::span<float> values) const override {
        prototype_.decode(framed_message::contents(prototype_, message, values.size()), values);
    }
    void decode_add(std::byte const* message, std::span<float> values) const override {
        prototype_.decode_add(framed_message::contents(prototype_, message, values.size()), values);
    }
    std::string describe() const override {
        if constexpr (requires(C const& c) { { c.describe() } -> std::convertible_to<std::string>; }) return prototype_.describe();
        else return std::string{C::name};
    }

    std::size_t state_bytes() const override {
        if constexpr (stateful_compressor<C>) {
            std::size_t bytes = 0;
            for (C const& c : by_block_) bytes += sizeof(std::uint64_t) + c.state_bytes();
            return bytes;
        } else {
            return 0;
        }
    }
    void save_state([[maybe_unused]] std::span<std::byte> saved) const override {
        if constexpr (stateful_compressor<C>)
            for (C const& c : by_block_) {
                std::uint64_t const length = c.state_bytes();
                std::memcpy(saved.data(), &length, sizeof length);
                c.save_state(saved.subspan(sizeof length, static_cast<std::size_t>(length)));
                saved = saved.subspan(sizeof length + static_cast<std::size_t>(length));
            }
    }
    void restore_state(std::span<std::byte const> read) override {
        std::vector<C> restored(by_block_.begin(), by_block_.end());
        if constexpr (stateful_compressor<C>)
            for (C& c : restored) {
                std::uint64_t length = 0;
                expect_state(read.size() >= sizeof length);
                std::memcpy(&length, read.data(), sizeof length);
                expect_state(length <= read.size() - sizeof length);
                c.restore_state(read.subspan(sizeof length, static_cast<std::size_t>(length)));
                read = read.subspan(sizeof length + static_cast<std::size_t>(length));
            }
        expect_state(read.empty());
        by_block_ = std::move(restored);
    }

 private:
    void expect_state(bool is_so) const {
        if (!is_so) raise(errc::corrupt, "this is not the saved state of " + std::to_string(by_block_.size()) + " blocks of " + describe());
    }

    C prototype_;
    std::vector<C> by_block_;
};

}  // namespace detail

/// How the messages of one plan are compressed: a compressor, of which the plan makes a copy for each block that this rank encodes.
///
///     chorus::compression how{chorus::block_integer{.bits = 8}};
///     auto sum = chorus::plan_all_reduce(world, gradient, chorus::sum{}, chorus::ring{}, {.carried_by = how});
///
/// For all_reduce and reduce_scatter (sum and mean), all_gather, broadcast, all_to_all of float, by any algorithm. Whatever a rank receives it decodes and adds in
/// float; what it passes on it encodes anew, unless it is what it received: that is passed on untouched. So every block is encoded once per rank in a ring, by halving
/// and in `direct` (two phases: owners of blocks add up and encode with their own residual), and all ranks have the same bits at the end. With one rank nothing is encoded.
/// Bytes per message: for each block of n elements 8 + max_wire_bytes(n), whatever was encoded into it. All ranks use the same compressor, else `mismatch`.
///
/// Copies share the state, which belongs to one plan at a time: `invalid_argument` for a second plan while one exists. It outlives the plan, so that the next
/// one of the same blocks goes on with its residuals.
class compression {
 public:
    compression() = default;  ///< none: elements travel as they are

    template <class C>
        requires(!std::same_as<std::remove_cvref_t<C>, compression>) && compressor<std::remove_cvref_t<C>> && std::copy_constructible<std::remove_cvref_t<C>>
    explicit compression(C&& by) : codec_{std::make_shared<detail::block_codec_of<std::remove_cvref_t<C>>>(std::forward<C>(by))} {}

    explicit operator bool() const noexcept { return codec_ != nullptr; }

    /// The compressor with its parameters.
    std::string describe() const { return codec_ ? codec_->describe() : "nothing"; }

    /// Residuals, momenta and counts of all blocks, for a checkpoint; of a plan that has been made, not under way.
    std::vector<std::byte> save_state() const {
        std::vector<std::byte> saved(codec_ ? codec_->state_bytes() : 0);
        if (codec_) codec_->save_state(saved);
        return saved;
    }

    /// What `save_state` gave for the same compressor, ranks, algorithm and count, after the plan has been made. Raises `corrupt` for anything else, changing nothing.
    void restore_state(std::span<std::byte const> saved) {
        if (codec_) codec_->restore_state(saved);
    }

    std::shared_ptr<detail::block_codec> const& codec() const noexcept { return codec_; }

 private:
    std::shared_ptr<detail::block_codec> codec_;
};

}  // namespace chorus
