// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"
#include "chorus/compress/compressor.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace chorus::detail {

/// Turns blocks of float into messages and back, for one rank and one operation. A message is 8 bytes, the length of what follows, and as much
/// room as the compressor may ever need for the block; so all lengths are known beforehand.
class block_codec {
 public:
    virtual ~block_codec() = default;

    /// Before the first use: this many blocks are encoded, numbered from 0, on this rank of a group.
    virtual void expect_blocks(std::size_t blocks, std::uint64_t rank) = 0;
    virtual std::size_t message_bytes(std::size_t count) const = 0;
    virtual void encode(std::size_t block, std::span<float const> values, std::byte* message) = 0;
    virtual void decode(std::byte const* message, std::span<float> values) const = 0;
    virtual void decode_add(std::byte const* message, std::span<float> values) const = 0;
    virtual std::string describe() const = 0;

    virtual std::size_t state_bytes() const = 0;
    virtual void save_state(std::span<std::byte> saved) const = 0;
    virtual void restore_state(std::span<std::byte const> read) = 0;

    /// One plan at a time uses it.
    void take() {
        expects(!std::exchange(is_taken_, true), [&] { return "compression by " + describe() + " belongs to another plan, and so do its residuals"; });
    }
    void give_back() noexcept { is_taken_ = false; }

 private:
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

/// The frame of a message: its length, 8 bytes, little-endian as memory is on all machines served.
class framed_message {
 public:
    static constexpr std::size_t bytes = sizeof(std::uint64_t);

    template <compressor C>
    static std::size_t bytes_for(C const& by, std::size_t count) {
        return bytes + by.max_wire_bytes(count);
    }

    template <compressor C>
    static void encode(C& by, std::span<float const> values, std::byte* message) {
        std::uint64_t const length = by.encode(values, {message + bytes, by.max_wire_bytes(values.size())});
        std::memcpy(message, &length, bytes);
    }

    /// Raises `corrupt` if the length is more than an encoder could have written.
    template <compressor C>
    static std::span<std::byte const> contents(C const& by, std::byte const* message, std::size_t count) {
        std::uint64_t length = 0;
        std::memcpy(&length, message, bytes);
        if (length > by.max_wire_bytes(count))
            raise(errc::corrupt, std::string{C::name} + " was sent " + std::to_string(length) + " bytes for " + std::to_string(count) +
                                     " elements, which take " + std::to_string(by.max_wire_bytes(count)) + " at most");
        return {message + bytes, static_cast<std::size_t>(length)};
    }
};

}  // namespace chorus::detail
