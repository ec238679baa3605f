// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/block_message.hpp"
#include "chorus/compress/detail/saved_calls.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace chorus {

/// Every element as -s, 0 or s, at random so that the mean is the element; s is the largest magnitude of the vector, or of
/// each block.
///
/// layout    see detail/block_message.hpp: per block s, 4 bytes, then 2 bits per element
/// bytes     16 + 4 ⌈count / block⌉ + ⌈count / 4⌉
/// promise   without clipping unbiased; δ by detail::stochastic_contraction, for one level; with clipping none.
///           Elements are 0 or at least 2^-80; blocks below 2^-100 become zeros
/// NaN, Inf  propagate: all elements of the block become NaN
/// state     the number of calls (16 bytes)
/// source    Wen et al., "TernGrad", NeurIPS 2017
struct ternary {
    static constexpr std::string_view name = "ternary";

    std::size_t block = 0;  ///< a multiple of 16; 0: the whole vector
    double clip = 0;        ///< s is at most so many standard deviations of the block (TernGrad: 2.5); 0: no clipping
    std::uint64_t seed = 0;
    nonfinite on_nonfinite = nonfinite::propagate;
    std::uint64_t calls = 0;  ///< so many messages were encoded

    std::size_t max_wire_bytes(std::size_t count) const { return message::max_bytes(count, coding(count), false); }

    compression_promise promise(std::size_t count) const {
        if (clip > 0) return {.smallest = 0x1p-80f};
        return {.is_unbiased = true,
                .contraction = detail::stochastic_contraction((std::min)(coding(count).block, count), 1.0),
                .smallest = 0x1p-80f};
    }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        auto const coding_now = coding(dense.size());
        std::size_t const bytes =
            clip > 0 ? message::encode<detail::block_measure::clipped>(dense, wire, coding_now, on_nonfinite, name)
                     : message::encode<detail::block_measure::largest>(dense, wire, coding_now, on_nonfinite, name);
        ++calls;
        return bytes;
    }
    void decode(std::span<std::byte const> received, std::span<float> out) const {
        message::decode(received, out, false, name);
    }
    void decode_add(std::span<std::byte const> received, std::span<float> out) const {
        message::decode(received, out, true, name);
    }

    std::size_t state_bytes() const { return detail::saved_calls::bytes; }
    void save_state(std::span<std::byte> saved) const { detail::saved_calls::save(saved, format, calls, name); }
    void restore_state(std::span<std::byte const> saved) { calls = detail::saved_calls::restore(saved, format, name); }

 private:
    static constexpr auto format = detail::wire_format::ternary;
    using message = detail::block_message<format>;

    detail::block_coding coding(std::size_t count) const {
        std::size_t const whole = (std::max)(count, std::size_t{1}) / 16 * 16 + 16;
        std::size_t const chosen = block == 0 ? whole : block;
        detail::expect_block(chosen, name);
        detail::expects(clip >= 0 && clip < 1e6,
                        [&] { return "ternary clips at 0 to 10^6 standard deviations, not at " + std::to_string(clip); });
        return {.bits = 2, .levels = 1, .block = chosen, .clip = clip, .is_stochastic = true, .seed = seed, .call = calls};
    }
};
static_assert(stateful_compressor<ternary>);

}  // namespace chorus
