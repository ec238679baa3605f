// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

namespace detail {

[[noreturn]] inline void refuse(std::string_view text, std::string_view why) {
    throw std::invalid_argument{"'" + std::string{text} + "': " + std::string{why}};
}

inline std::uint64_t times(std::uint64_t value, std::uint64_t factor, std::string_view text) {
    if (factor != 0 && value > (std::numeric_limits<std::uint64_t>::max)() / factor)
        refuse(text, "does not fit in 64 bits");
    return value * factor;
}

}  // namespace detail

/// A number of bytes: decimal digits and at most one of K, M, G (either case), which are the powers of 1024.
/// Throws std::invalid_argument.
inline std::uint64_t parse_size(std::string_view text) {
    std::uint64_t value = 0;
    auto const [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem == std::errc::result_out_of_range) detail::refuse(text, "does not fit in 64 bits");
    if (problem != std::errc{}) detail::refuse(text, "is not a size such as 4, 64K, 1M or 2G");
    std::string_view const unit = text.substr(static_cast<std::size_t>(end - text.data()));
    if (unit.empty()) return value;
    if (unit == "K" || unit == "k") return detail::times(value, std::uint64_t{1} << 10, text);
    if (unit == "M" || unit == "m") return detail::times(value, std::uint64_t{1} << 20, text);
    if (unit == "G" || unit == "g") return detail::times(value, std::uint64_t{1} << 30, text);
    detail::refuse(text, "has another unit than K, M, G (powers of 1024)");
}

/// "A": that size. "A:B" or "A:B:xF": A, then F times as much (2 unless given) again and again while that is below B,
/// then B. After 0 comes 1. A above B, or F below 2, is refused. Throws std::invalid_argument.
inline std::vector<std::uint64_t> parse_sizes(std::string_view text) {
    std::size_t const first_colon = text.find(':');
    std::uint64_t const begin = parse_size(text.substr(0, first_colon));
    if (first_colon == std::string_view::npos) return {begin};
    std::string_view const rest = text.substr(first_colon + 1);
    std::size_t const second_colon = rest.find(':');
    std::uint64_t const end = parse_size(rest.substr(0, second_colon));
    if (begin > end) detail::refuse(text, "the range ends below its beginning");
    std::uint64_t factor = 2;
    if (second_colon != std::string_view::npos) {
        std::string_view const step = rest.substr(second_colon + 1);
        if (step.empty() || step[0] != 'x') detail::refuse(text, "the step is written x2, x4, ...");
        factor = parse_size(step.substr(1));
        if (factor < 2) detail::refuse(text, "the step's factor is below 2");
    }
    std::vector<std::uint64_t> sizes;
    for (std::uint64_t size = begin; size < end;) {
        sizes.push_back(size);
        if (size == 0) size = 1;
        else if (size > end / factor) break;
        else size *= factor;
    }
    sizes.push_back(end);
    return sizes;
}

/// How many elements are measured for each size: rounded up to whole elements, sizes that come to the same left out.
inline std::vector<std::uint64_t> element_counts(std::vector<std::uint64_t> const& sizes, std::uint64_t element_bytes) {
    std::vector<std::uint64_t> counts;
    for (std::uint64_t size : sizes) {
        std::uint64_t const count = size / element_bytes + (size % element_bytes != 0 ? 1 : 0);
        if (counts.empty() || counts.back() != count) counts.push_back(count);
    }
    return counts;
}

}  // namespace bench
