// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "pattern.hpp"

#include <chorus/compress/any_compressor.hpp>
#include <chorus/data/blocks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace bench {

/// Inputs that are tried, what says most first: dense; every element one rank's, of a size that steps of 8, 4 and 2 bits hit;
/// signs alone; entries so far apart that a selection keeps them all.
inline constexpr entries tried_entries[] = {
    {}, {1, 127, false, true}, {1, 7, false, true}, {1, 1, false, true}, {1, 255}, {1, 15}, {1, 3}, {1, 1, true, true},
    {17, 1, false, true}, {131, 1, false, true}, {521, 1, false, true}, {4099, 1, false, true},
    {17, 127}, {131, 127}, {521, 127}, {4099, 127}, {521, 7}, {4099, 7}};

namespace detail {

/// The sum over ranks first … last - 1, of so many elements.
inline std::vector<float> partial_sum(pattern const& of, std::uint32_t first, std::uint32_t last, std::uint64_t count, std::uint64_t call) {
    std::vector<float> sum(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (i >= of.length()) {
            sum[i] = sum[i - of.length()];
            continue;
        }
        int value = 0;
        for (std::uint32_t r = first; r < last; ++r) value += of.value(r, i, call);
        sum[i] = static_cast<float>(value);
    }
    return sum;
}

inline bool keeps_all_bits(chorus::any_compressor by, std::span<float const> vector) {
    std::vector<std::byte> wire(by.max_wire_bytes(vector.size()));
    std::vector<float> decoded(vector.size());
    by.decode(std::span{wire}.first(by.encode(vector, wire)), decoded);
    return vector.empty() || std::memcmp(decoded.data(), vector.data(), vector.size_bytes()) == 0;
}

inline bool is_kept(chorus::any_compressor const& by, pattern const& of, std::uint32_t ranks, bool reduces, std::uint64_t count) {
    std::uint32_t const lasts[] = {1, (ranks + 1) / 2, ranks};
    for (std::uint64_t call : {0u, 1u})
        for (std::uint32_t last : lasts) {
            std::vector<float> const sum = partial_sum(of, reduces ? 0 : last - 1, last, count, call);
            for (std::uint32_t parts : {1u, ranks, 2 * ranks, 4 * ranks}) {
                chorus::blocks const cut = chorus::blocks::near_equal(count, parts);
                for (std::uint32_t b = 0; b < parts; b += (std::max)(parts / 4, 1u))
                    if (!keeps_all_bits(by, std::span{sum}.subspan(cut.begin(b), cut.length(b)))) return false;
            }
        }
    return true;
}

}  // namespace detail

/// The first of `tried_entries` whose parts and partial sums the compressor gives back bit for bit, so that the collective's
/// result is known exactly; none: it loses something of each. Tried on vectors of up to 2^18 elements: a wrong guess shows
/// itself as wrong results, never as right ones.
inline std::optional<entries> carried_exactly(chorus::any_compressor const& by, operation op, std::uint32_t ranks, bool reduces,
                                              std::uint64_t count) {
    for (entries const& each : tried_entries)
        if (detail::is_kept(by, pattern{op, ranks, each}, ranks, reduces, (std::min)(count, std::uint64_t{1} << 18))) return each;
    return std::nullopt;
}

}  // namespace bench
