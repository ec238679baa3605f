// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/detail/block_codec.hpp"
#include "chorus/compress/any_compressor.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// How the messages of one plan are compressed: a compressor, of which the plan makes a copy for each block that this rank encodes.
///
///     chorus::compression how{chorus::block_integer{.bits = 8}};
///     auto sum = chorus::plan_all_reduce(world, gradient, chorus::sum{}, chorus::ring{}, {.carried_by = how});
///
/// For all_reduce, reduce_scatter and reduce (sum and mean), all_gather, gather, broadcast, scatter and all_to_all of float, by any algorithm. What a rank receives it decodes
/// and adds in float; what it passes on it encodes anew, unless it is what it received: that is passed on untouched. So every block is encoded once per rank in a
/// ring, by halving, and in `direct` (two phases: the owner of a block adds it up and encodes it with its own residual), and all ranks have the same bits at the end. With one
/// rank nothing is encoded. Bytes per message: for each block of n elements 8 + max_wire_bytes(n), whatever was encoded into it. All ranks use the same compressor, else
/// `mismatch`.
///
/// Copies share the state, which belongs to one plan at a time: `invalid_argument` for a second plan while one exists. It outlives the plan, so that the next
/// one of the same blocks goes on with its residuals.
class compression {
 public:
    compression() = default;  ///< none: elements travel as they are

    explicit compression(any_compressor by) : codec_{std::make_shared<detail::block_codec>(std::move(by))} {}

    explicit operator bool() const noexcept { return codec_ != nullptr; }

    /// Another one of the same compressor as it was given: no state, for a plan of its own.
    compression fresh() const { return codec_ ? compression{codec_->prototype()} : compression{}; }

    /// The compressor with its parameters.
    std::string describe() const { return codec_ ? codec_->describe() : "nothing"; }

    /// Residuals, momenta and counts of all blocks, for a checkpoint; of a plan that has been made, not under way.
    std::vector<std::byte> save_state() const { return codec_ ? codec_->save_state() : std::vector<std::byte>{}; }

    /// What `save_state` gave for the same compressor, ranks, algorithm and count, after the plan has been made. Raises `corrupt` for anything else,
    /// changing nothing.
    void restore_state(std::span<std::byte const> saved) {
        if (codec_) codec_->restore_state(saved);
    }

    std::shared_ptr<detail::block_codec> const& codec() const noexcept { return codec_; }

 private:
    std::shared_ptr<detail::block_codec> codec_;
};

}  // namespace chorus
