// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/detail/packed_indices.hpp"
#include "chorus/compress/detail/wire_header.hpp"
#include "chorus/compress/detail/wire_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace chorus {

/// How a sparse message names the elements that it holds. Both are lossless, and every sparsifier reads both.
enum class index_layout : std::uint8_t {
    plain,  ///< 4 bytes each
    packed  ///< the gaps between them, bit-packed in blocks of 128: about 1.2 bytes each at 1 %, 0.8 at 10 %
};
constexpr std::array<std::string_view, 2> words_of(index_layout) noexcept { return {"plain", "packed"}; }

namespace detail {

/// A vector of which some elements are sent, as bytes:
///
/// header             format sparse, or packed_sparse if there are entries; number: entries; detail: 1 if every element is NaN (then without entries), otherwise 0
/// 4·entries bytes    their values, in ascending order of their indices
/// the rest           their indices: words of 4 bytes, or packed_indices
struct sparse_wire {
    /// Indices are words of 32 bits.
    static constexpr std::uint64_t largest_count = 0xFFFFFFFF;
    static constexpr std::uint8_t all_nan = 1;

    static constexpr std::size_t max_bytes(index_layout layout, std::size_t entries, std::size_t count) noexcept {
        std::size_t const indices = layout == index_layout::plain ? 4 * entries : packed_indices::max_bytes(entries, count);
        return wire_header::bytes + 4 * entries + indices;
    }

    /// Raises `invalid_argument` for more elements than indices can name.
    static void expect_countable(std::uint64_t count, std::string_view name) {
        expects(count <= largest_count, [&] {
            return std::string{name} + " was given " + std::to_string(count) + " elements; its indices have 32 bits: cut the vector into several";
        });
    }
};

/// Writes a sparse message as its entries come, in ascending order of their indices.
class sparse_writer {
 public:
    /// `entries` will be added in all; `wire` has room for max_bytes.
    sparse_writer(std::span<std::byte> wire, index_layout layout, std::size_t entries, std::size_t count) noexcept
        : wire_{wire}, layout_{entries == 0 ? index_layout::plain : layout}, values_{wire.data() + wire_header::bytes}, indices_{values_ + 4 * entries}, packer_{indices_, entries} {
        auto const format = layout_ == index_layout::plain ? wire_format::sparse : wire_format::packed_sparse;
        wire_header{format, 0, entries, count}.write(wire);
    }

    void add(std::span<std::uint32_t const> indices, std::span<float const> values) noexcept {
        store_words(values_, values.data(), values.size());
        values_ += 4 * values.size();
        if (layout_ == index_layout::packed) return packer_.add(indices);
        store_words(indices_, indices.data(), indices.size());
        indices_ += 4 * indices.size();
    }

    /// The bytes of the message.
    std::size_t finish() noexcept {
        std::byte const* const end = layout_ == index_layout::packed ? packer_.finish() : indices_;
        return static_cast<std::size_t>(end - wire_.data());
    }

    /// The message that stands for nothing but NaN; its bytes.
    static std::size_t write_all_nan(std::span<std::byte> wire, std::size_t count) noexcept {
        wire_header{wire_format::sparse, sparse_wire::all_nan, 0, count}.write(wire);
        return wire_header::bytes;
    }

 private:
    std::span<std::byte> wire_;
    index_layout layout_;
    std::byte* values_;
    std::byte* indices_;
    index_packer packer_;
};

/// A sparse message in either layout that was found to be whole. Refers to the bytes it was read from.
class sparse_message {
 public:
    /// Raises `corrupt` for bytes that no writer wrote for `count` elements: too short, too long, an index that is out of range or does not ascend.
    static sparse_message read(std::span<std::byte const> wire, std::size_t count, std::string_view name) {
        bool const is_packed = !wire.empty() && wire[0] == static_cast<std::byte>(wire_format::packed_sparse);
        auto const header = wire_header::read(wire, is_packed ? wire_format::packed_sparse : wire_format::sparse, count, name);
        auto const expect = [&](bool holds, char const* words) {
            wire_header::expect_whole(holds, name, [&] { return std::string{words}; });
        };
        expect(count <= sparse_wire::largest_count && header.number <= count, "it has more entries than there are elements");
        expect(!is_packed || header.number != 0, "it has no indices to be packed");
        expect(header.detail == 0 || (header.detail == sparse_wire::all_nan && header.number == 0 && !is_packed), "byte 2 is unknown");
        sparse_message const made{wire, header, is_packed};
        std::size_t const payload = wire.size() - wire_header::bytes;
        if (is_packed) made.expect_packed(payload, count, name);
        else {
            wire_header::expect_payload(wire, 8 * made.entries_, name);
            expect(made.ascends_below(count), "its indices do not ascend within the vector");
        }
        return made;
    }

    std::size_t entries() const noexcept { return entries_; }

    /// Every element is NaN: more of them were not finite than the message could hold.
    bool is_all_nan() const noexcept { return is_all_nan_; }

    /// Calls f(indices, values) for the entries in ascending order, up to 128 at a time; `values` are as in the message.
    template <class F>
    void for_each_block(F const& f) const {
        std::array<std::uint32_t, packed_indices::block> indices;
        reader next{*this};
        for (std::size_t at = 0; at < entries_; at += indices.size()) f(std::span{indices}.first(next.read(indices)), values_ + 4 * at);
    }

    /// Overwrites all of `out`, which has as many elements as the message stands for.
    void decode(std::span<float> out) const noexcept {
        std::fill(out.begin(), out.end(), is_all_nan_ ? nan : 0.0f);
        for_each_entry(out.data(), [](float& element, float value) { element = value; });
    }

    /// Adds to the elements that the message holds.
    void decode_add(std::span<float> out) const noexcept {
        if (is_all_nan_)
            for (float& element : out) element += nan;
        for_each_entry(out.data(), [](float& element, float value) { element += value; });
    }

    /// All entries in ascending order, into room for entries() of each.
    void copy(std::uint32_t* indices, float* values) const noexcept {
        load_words(values, values_, entries_);
        for_each_block([&](std::span<std::uint32_t const> block, std::byte const*) { indices = std::copy(block.begin(), block.end(), indices); });
    }

 private:
    static constexpr float nan = std::numeric_limits<float>::quiet_NaN();

    sparse_message(std::span<std::byte const> wire, wire_header const& header, bool is_packed) noexcept
        : values_{wire.data() + wire_header::bytes}, entries_{static_cast<std::size_t>(header.number)}, is_packed_{is_packed},
          is_all_nan_{header.detail == sparse_wire::all_nan} {}

    std::byte const* indices() const noexcept { return values_ + 4 * entries_; }

    /// Reads the indices block by block.
    struct reader {
        explicit reader(sparse_message const& m) noexcept
            : from{m.indices()}, widths{from}, left{m.entries_}, is_packed{m.is_packed_} {
            if (is_packed) from += packed_indices::blocks(left);
        }

        /// The next block; how many.
        std::size_t read(std::array<std::uint32_t, packed_indices::block>& to) noexcept {
            std::size_t const many = (std::min)(left, to.size());
            left -= many;
            if (many == 0) return 0;
            if (!is_packed) {
                load_words(to.data(), from, many);
                from += 4 * many;
                return many;
            }
            unsigned const width = std::to_integer<unsigned>(*widths++);
            is_canonical &= packed_indices::unpack(std::span{to}.first(many), from, width);
            from += packed_indices::block_bytes(many, width);
            for (std::size_t i = 0; i < many; ++i) {
                next += to[i];
                to[i] = static_cast<std::uint32_t>(next++);
            }
            return many;
        }

        std::byte const* from;
        std::byte const* widths;
        std::size_t left;
        std::uint64_t next = 0;  ///< the least that the next packed index may be; it cannot wrap around
        bool is_packed;
        bool is_canonical = true;
    };

    bool ascends_below(std::size_t count) const noexcept {
        std::byte const* const from = indices();
        bool holds = entries_ == 0 || load_word<std::uint32_t>(from, entries_ - 1) < count;
        for (std::size_t i = 1; i < entries_; ++i) holds &= load_word<std::uint32_t>(from, i - 1) < load_word<std::uint32_t>(from, i);
        return holds;
    }

    void expect_packed(std::size_t payload, std::size_t count, std::string_view name) const {
        auto const expect = [&](bool holds, char const* words) {
            wire_header::expect_whole(holds, name, [&] { return std::string{words}; });
        };
        std::size_t const blocks = packed_indices::blocks(entries_);
        std::size_t bytes = 4 * entries_ + blocks;
        expect(payload >= bytes, "it ends before its indices");
        for (std::size_t b = 0; b < blocks; ++b) {
            unsigned const width = std::to_integer<unsigned>(indices()[b]);
            expect(width <= 32, "its gaps have more than 32 bits");
            bytes += packed_indices::block_bytes((std::min)(entries_ - b * packed_indices::block, packed_indices::block), width);
        }
        expect(payload == bytes, "its length is not that of its indices and values");
        std::array<std::uint32_t, packed_indices::block> scratch;
        reader all{*this};
        while (all.read(scratch) != 0) continue;
        expect(all.is_canonical, "a block of its indices is not packed as tightly as it would be");
        expect(all.next <= count, "its indices reach beyond the vector");
    }

    /// f(element, value) for each entry. Elements are asked for a block ahead, as they lie far apart.
    template <class F>
    void for_each_entry(float* out, F const& f) const noexcept {
        std::array<std::uint32_t, packed_indices::block> both[2];
        reader indices{*this};
        std::size_t many = indices.read(both[0]);
        std::byte const* values = values_;
        for (unsigned turn = 0; many != 0; turn ^= 1) {
            std::uint32_t const* const now = both[turn].data();
            std::uint32_t const* const ahead = both[turn ^ 1].data();
            std::size_t const later = indices.read(both[turn ^ 1]);
            std::size_t i = 0;
            for (; i < later; ++i) {
                __builtin_prefetch(out + ahead[i], 1);
                f(out[now[i]], load_word<float>(values, i));
            }
            for (; i < many; ++i) f(out[now[i]], load_word<float>(values, i));
            values += 4 * many;
            many = later;
        }
    }

    std::byte const* values_;
    std::size_t entries_;
    bool is_packed_;
    bool is_all_nan_;
};

}  // namespace detail
}  // namespace chorus
