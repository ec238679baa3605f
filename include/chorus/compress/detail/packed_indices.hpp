// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/detail/wire_words.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace chorus::detail {

/// Ascending indices as the gaps between them, in blocks of 128 that each have their own width:
///
/// one byte for each block   bits of a gap, 0-32, no more than its largest gap needs
/// for each block in turn    its gaps, that many bits each, lowest bit first; filled up with zero bits to a whole byte
///
/// The gap of an index is how many elements lie between it and the one before (before the first: all that precede it).
/// Of 1 % random elements an index takes about 9.3 bits.
struct packed_indices {
    static constexpr std::size_t block = 128;

    static constexpr std::size_t blocks(std::size_t entries) noexcept { return (entries + block - 1) / block; }
    static constexpr std::size_t block_bytes(std::size_t entries, unsigned width) noexcept { return (entries * width + 7) / 8; }

    /// The longest form of so many indices below `count`.
    static constexpr std::size_t max_bytes(std::size_t entries, std::size_t count) noexcept {
        unsigned const width = count == 0 ? 0 : static_cast<unsigned>(std::bit_width(count - 1));
        return blocks(entries) + block_bytes(entries, width);
    }

    /// Writes one block of up to 128 gaps, all below 2^width.
    static void pack(std::byte* to, std::span<std::uint32_t const> gaps, unsigned width) noexcept {
        std::uint64_t waiting = 0;
        unsigned filled = 0;
        for (std::uint32_t gap : gaps) {
            waiting |= std::uint64_t{gap} << filled;
            filled += width;
            if (filled < 32) continue;
            store_word(to, static_cast<std::uint32_t>(waiting));
            to += 4;
            waiting >>= 32;
            filled -= 32;
        }
        for (; filled > 0; filled -= (std::min)(filled, 8u), waiting >>= 8) *to++ = static_cast<std::byte>(waiting & 0xFF);
    }

    /// Reads one block; false: its width is not the least, or the bits behind the last gap are not zero.
    static bool unpack(std::span<std::uint32_t> gaps, std::byte const* from, unsigned width) noexcept {
        std::array<std::byte, block * 4 + 8> padded;  // so that the last gap, too, is read as a whole word
        std::size_t const bytes = block_bytes(gaps.size(), width);
        std::memset(padded.data() + bytes, 0, 8);
        if (bytes != 0) std::memcpy(padded.data(), from, bytes);
        std::uint64_t const mask = (std::uint64_t{1} << width) - 1;
        std::uint32_t all = 0;
        std::size_t bit = 0;
        for (std::uint32_t& gap : gaps) {
            gap = static_cast<std::uint32_t>(load_word<std::uint64_t>(padded.data() + bit / 8) >> bit % 8 & mask);
            all |= gap;
            bit += width;
        }
        bool const ends_in_zeros = bit % 8 == 0 || std::to_integer<unsigned>(padded[bit / 8]) >> bit % 8 == 0;
        return ends_in_zeros && static_cast<unsigned>(std::bit_width(all)) == width;
    }
};

/// Writes packed indices as they come.
class index_packer {
 public:
    /// So many will be added in all; `to` has room for their longest form.
    index_packer(std::byte* to, std::size_t entries) noexcept : widths_{to}, to_{to + packed_indices::blocks(entries)} {}

    void add(std::span<std::uint32_t const> indices) noexcept {
        for (std::uint32_t index : indices) {
            gaps_[waiting_++] = index - next_;
            next_ = index + 1;
            if (waiting_ == packed_indices::block) flush();
        }
    }

    /// Behind the last byte.
    std::byte* finish() noexcept {
        if (waiting_ != 0) flush();
        return to_;
    }

 private:
    void flush() noexcept {
        std::uint32_t all = 0;
        for (std::size_t i = 0; i < waiting_; ++i) all |= gaps_[i];
        auto const width = static_cast<unsigned>(std::bit_width(all));
        *widths_++ = static_cast<std::byte>(width);
        packed_indices::pack(to_, std::span{gaps_}.first(waiting_), width);
        to_ += packed_indices::block_bytes(waiting_, width);
        waiting_ = 0;
    }

    std::byte* widths_;
    std::byte* to_;
    std::uint32_t next_ = 0;  ///< the least that the next index may be
    std::size_t waiting_ = 0;
    std::array<std::uint32_t, packed_indices::block> gaps_;
};

}  // namespace chorus::detail
