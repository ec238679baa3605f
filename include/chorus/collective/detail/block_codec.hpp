// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"
#include "chorus/compress/any_compressor.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus::detail {

/// Turns blocks of float into messages and back, for one rank and one plan. A message is 8 bytes, the length of what follows, and as much room
/// as the compressor may ever need for the block; so all lengths are known beforehand.
///
/// One copy of the compressor for every block that this rank encodes: each has its own residual, momentum and random choices.
class block_codec {
 public:
    explicit block_codec(any_compressor prototype) : prototype_{std::move(prototype)} {}

    /// Before the first use: this many blocks are encoded, numbered from 0, on this rank of a group.
    void expect_blocks(std::size_t blocks, std::uint64_t rank) {
        for (std::size_t b = by_block_.size(); b < blocks; ++b) {
            by_block_.push_back(prototype_);
            by_block_.back().choose_apart(rank << 32 | b);
        }
    }

    std::size_t message_bytes(std::size_t count) const { return frame + prototype_.max_wire_bytes(count); }

    void encode(std::size_t block, std::span<float const> values, std::byte* message) {
        any_compressor& by = by_block_[block];
        std::uint64_t const length = by.encode(values, {message + frame, by.max_wire_bytes(values.size())});
        std::memcpy(message, &length, frame);
    }
    void decode(std::byte const* message, std::span<float> values) const { prototype_.decode(contents(message, values.size()), values); }
    void decode_add(std::byte const* message, std::span<float> values) const { prototype_.decode_add(contents(message, values.size()), values); }

    any_compressor const& prototype() const noexcept { return prototype_; }
    std::string describe() const { return prototype_.describe(); }

    /// For each block the length of its state, and that.
    std::vector<std::byte> save_state() const {
        std::vector<std::byte> saved;
        for (any_compressor const& c : by_block_) {
            std::uint64_t const length = c.state_bytes();
            std::size_t const at = saved.size();
            saved.resize(at + frame + static_cast<std::size_t>(length));
            std::memcpy(saved.data() + at, &length, frame);
            c.save_state(std::span{saved}.subspan(at + frame));
        }
        return saved;
    }
    void restore_state(std::span<std::byte const> read) { go_on_with(restored(read)); }

    /// The compressors as they were saved, to go on with: where several states are restored together, all of them or none.
    std::vector<any_compressor> restored(std::span<std::byte const> read) const {
        std::vector<any_compressor> all = by_block_;
        for (any_compressor& c : all) {
            std::uint64_t length = 0;
            expect_state(read.size() >= frame);
            std::memcpy(&length, read.data(), frame);
            expect_state(length <= read.size() - frame);
            c.restore_state(read.subspan(frame, static_cast<std::size_t>(length)));
            read = read.subspan(frame + static_cast<std::size_t>(length));
        }
        expect_state(read.empty());
        return all;
    }
    void go_on_with(std::vector<any_compressor> restored) noexcept { by_block_ = std::move(restored); }

    /// One plan at a time uses it.
    void take() {
        expects(!std::exchange(is_taken_, true), [&] { return "compression by " + describe() + " belongs to another plan, and so do its residuals"; });
    }
    void give_back() noexcept { is_taken_ = false; }

 private:
    static constexpr std::size_t frame = sizeof(std::uint64_t);

    /// Raises `corrupt` if the length is more than an encoder could have written.
    std::span<std::byte const> contents(std::byte const* message, std::size_t count) const {
        std::uint64_t length = 0;
        std::memcpy(&length, message, frame);
        std::size_t const most = prototype_.max_wire_bytes(count);
        if (length > most)
            raise(errc::corrupt, describe() + " was sent " + std::to_string(length) + " bytes for " + std::to_string(count) +
                                     " elements, which take " + std::to_string(most) + " at most");
        return {message + frame, static_cast<std::size_t>(length)};
    }
    void expect_state(bool is_so) const {
        if (!is_so) raise(errc::corrupt, "this is not the saved state of " + std::to_string(by_block_.size()) + " blocks of " + describe());
    }

    any_compressor prototype_;
    std::vector<any_compressor> by_block_;
    bool is_taken_ = false;
};

/// For as long as a plan lives.
class codec_use {
 public:
    explicit codec_use(std::shared_ptr<block_codec> codec) : codec_{std::move(codec)} {
        if (codec_) codec_->take();
    }
    ~codec_use() {
        if (codec_) codec_->give_back();
    }
    codec_use(codec_use const&) = delete;
    codec_use& operator=(codec_use const&) = delete;

 private:
    std::shared_ptr<block_codec> codec_;
};

}  // namespace chorus::detail
