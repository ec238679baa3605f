// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/wire_header.hpp"
#include "chorus/data/reduce_block.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace chorus {

/// Leaves out the blocks that hold nothing but +0 and sends the others as they are.
///
/// layout    header (number: elements of a block), then one bit for each block, the first in the lowest bit, up to a whole byte; then the blocks whose bits are set
/// bytes     16 + ⌈blocks / 8⌉ + 4 · elements of the blocks that are sent
/// promise   lossless: unbiased, δ = 1, a selection (-0 counts as something)
/// NaN, Inf  propagate: every bit survives, no other element suffers
/// state     none
struct block_sparse {
    static constexpr std::string_view name = "block_sparse";

    std::size_t block = 256;
    nonfinite on_nonfinite = nonfinite::propagate;

    std::size_t max_wire_bytes(std::size_t count) const {
        detail::expects(block != 0 && block <= detail::wire_header::largest_number, [&] {
            return "block_sparse needs blocks of 1 to 2^40 - 1 elements and was given " + std::to_string(block);
        });
        return detail::wire_header::bytes + map_bytes(count, block) + 4 * count;
    }

    compression_promise promise(std::size_t) const noexcept { return {.is_unbiased = true, .contraction = 1.0, .is_selection = true}; }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) const {
        detail::expect_room(wire, max_wire_bytes(dense.size()), name);
        detail::refuse_nonfinite(dense, on_nonfinite, name);
        detail::wire_header{detail::wire_format::block_sparse, 0, block, dense.size()}.write(wire);
        std::byte* const map = wire.data() + detail::wire_header::bytes;
        std::byte* to = map + map_bytes(dense.size(), block);
        std::fill(map, to, std::byte{0});
        std::size_t b = 0;
        for (auto rest = std::as_bytes(dense); !rest.empty(); ++b) {
            auto const part = rest.first((std::min)(rest.size(), 4 * block));
            rest = rest.subspan(part.size());
            if (is_zero(part)) continue;
            std::memcpy(to, part.data(), part.size());
            if (on_nonfinite == nonfinite::sanitise) {
                detail::sanitise_in(to, part.size() / 4);
                if (is_zero({to, part.size()})) continue;
            }
            map[b / 8] |= std::byte{1} << b % 8;
            to += part.size();
        }
        return static_cast<std::size_t>(to - wire.data());
    }

    /// Overwrites all of `out`. The block length is that of the message.
    void decode(std::span<std::byte const> wire, std::span<float> out) const {
        for_each_block(wire, out, [](std::span<float> block_out, std::byte const* sent) {
            if (sent != nullptr) std::memcpy(block_out.data(), sent, 4 * block_out.size());
            else std::fill(block_out.begin(), block_out.end(), 0.0f);
        });
    }

    /// Adds to the elements of the blocks that were sent.
    void decode_add(std::span<std::byte const> wire, std::span<float> out) const {
        auto const add = detail::choose_apply<sum, float>(detail::current_instruction_set());
        for_each_block(wire, out, [&](std::span<float> block_out, std::byte const* sent) {
            auto* const to = reinterpret_cast<std::byte*>(block_out.data());
            if (sent != nullptr) add(to, to, sent, block_out.size(), nullptr);
        });
    }

 private:
    static std::size_t blocks(std::size_t count, std::size_t length) noexcept { return count / length + (count % length != 0); }
    static std::size_t map_bytes(std::size_t count, std::size_t length) noexcept { return blocks(count, length) / 8 + (blocks(count, length) % 8 != 0); }
    static bool is_set(std::byte const* map, std::size_t b) noexcept { return (map[b / 8] >> b % 8 & std::byte{1}) != std::byte{0}; }

    /// Of whole floats, at any address.
    static bool is_zero(std::span<std::byte const> part) noexcept {
        std::size_t at = 0;
        for (; part.size() - at >= 64; at += 64) {
            std::uint64_t words[8], any = 0;
            std::memcpy(words, part.data() + at, 64);
            for (std::uint64_t word : words) any |= word;
            if (any != 0) return false;
        }
        return std::all_of(part.begin() + static_cast<std::ptrdiff_t>(at), part.end(), [](std::byte b) { return b == std::byte{0}; });
    }

    /// Checks the message, then calls f(elements, where they were sent or null) for each block.
    template <class F>
    void for_each_block(std::span<std::byte const> wire, std::span<float> out, F const& f) const {
        using detail::wire_header;
        auto const header = wire_header::read(wire, detail::wire_format::block_sparse, out.size(), name);
        std::size_t const length = static_cast<std::size_t>(header.number), count = out.size();
        wire_header::expect_whole(header.detail == 0 && length != 0, name, [] { return "its blocks have no length"; });
        std::byte const* const map = wire.data() + wire_header::bytes;
        std::size_t const in_map = map_bytes(count, length), many = blocks(count, length);
        wire_header::expect_whole(wire.size() - wire_header::bytes >= in_map, name, [] { return "it ends before its map of blocks"; });
        std::size_t elements = 0;
        for (std::size_t b = 0; b < 8 * in_map; ++b) {
            if (!is_set(map, b)) continue;
            wire_header::expect_whole(b < many, name, [] { return "its map has more blocks than the vector"; });
            elements += (std::min)(length, count - b * length);
        }
        wire_header::expect_payload(wire, in_map + 4 * elements, name);
        std::byte const* from = map + in_map;
        for (std::size_t b = 0; b < many; ++b) {
            auto const part = out.subspan(b * length, (std::min)(length, count - b * length));
            bool const is_sent = is_set(map, b);
            f(part, is_sent ? from : nullptr);
            if (is_sent) from += 4 * part.size();
        }
    }
};
static_assert(compressor<block_sparse>);

}  // namespace chorus
