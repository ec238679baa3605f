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

/// Every element as one of `levels` parts of its block's Euclidean norm, rounded up or down at random so that the mean is
/// the element.
///
/// layout    see detail/block_message.hpp: per block a step (norm / levels) of 4 bytes, then 8, 4 or 2 bits per element:
///           the least that hold a sign and `levels`
/// bytes     16 + 4 ⌈count / block⌉ + ⌈bits · count / 8⌉
/// promise   unbiased; E|x - C(x)|² ≤ min(b / levels², √b / levels) |x|², b = min(block, count), so δ is 1 less that, or 0.
///           Elements are 0 or at least 2^-80; blocks whose largest is below 2^-100 become zeros; up to the largest float / √b
/// NaN, Inf  propagate: all elements of the block become NaN
/// state     the number of calls (16 bytes)
/// source    Alistarh et al., "QSGD", NeurIPS 2017; without its Elias coding
struct qsgd {
    static constexpr std::string_view name = "qsgd";

    std::uint32_t levels = 127;  ///< 1 … 127
    std::size_t block = 512;     ///< a multiple of 16
    std::uint64_t seed = 0;
    nonfinite on_nonfinite = nonfinite::propagate;
    std::uint64_t calls = 0;  ///< so many messages were encoded

    std::size_t max_wire_bytes(std::size_t count) const { return message::max_bytes(count, coding(), false); }

    compression_promise promise(std::size_t count) const {
        double const b = static_cast<double>((std::min)(block, count)), s = levels;
        double const lost = (std::min)(b / (s * s), std::sqrt(b) / s);
        compression_promise result{.is_unbiased = true,
                                   .contraction = (std::max)(0.0, (1 - lost) * (1 - 0x1p-12)),
                                   .smallest = 0x1p-80f};
        if (b > 1) result.largest = static_cast<float>(static_cast<double>(result.largest) / std::sqrt(b) * (1 - 0x1p-20));
        return result;
    }

    std::size_t encode(std::span<float const> dense, std::span<std::byte> wire) {
        auto const bytes = message::encode<detail::block_measure::norm>(dense, wire, coding(), on_nonfinite, name);
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
    static constexpr auto format = detail::wire_format::qsgd;
    using message = detail::block_message<format>;

    detail::block_coding coding() const {
        detail::expect_block(block, name);
        detail::expects(levels >= 1 && levels <= 127,
                        [&] { return "qsgd has 1 to 127 levels, not " + std::to_string(levels); });
        return {.bits = levels > 7 ? 8u : levels > 1 ? 4u : 2u,
                .levels = levels,
                .block = block,
                .is_stochastic = true,
                .seed = seed,
                .call = calls};
    }
};
static_assert(stateful_compressor<qsgd>);

}  // namespace chorus
