// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstdint>
#include <string_view>

namespace chorus {

/// The collectives. Their names in text are the function names.
enum class collective : std::uint8_t {
    all_reduce, reduce_scatter, all_gather, broadcast, reduce, gather, scatter, all_to_all, scan, exclusive_scan, barrier
};

inline constexpr collective all_collectives[] = {
    collective::all_reduce, collective::reduce_scatter, collective::all_gather, collective::broadcast,
    collective::reduce, collective::gather, collective::scatter, collective::all_to_all,
    collective::scan, collective::exclusive_scan, collective::barrier};

constexpr std::string_view to_string(collective operation) noexcept {
    constexpr std::string_view names[] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce", "gather",
                                          "scatter", "all_to_all", "scan", "exclusive_scan", "barrier"};
    return names[static_cast<int>(operation)];
}

constexpr bool has_root(collective operation) noexcept {
    return operation == collective::broadcast || operation == collective::reduce || operation == collective::gather ||
           operation == collective::scatter;
}

constexpr bool has_reduction(collective operation) noexcept {
    return operation == collective::all_reduce || operation == collective::reduce_scatter ||
           operation == collective::reduce || operation == collective::scan || operation == collective::exclusive_scan;
}

/// Whether the caller's vector is p blocks, one per rank (which may be uneven), rather than one whole to be cut at will.
constexpr bool has_block_per_rank(collective operation) noexcept {
    return operation == collective::reduce_scatter || operation == collective::all_gather ||
           operation == collective::gather || operation == collective::scatter || operation == collective::all_to_all;
}

}  // namespace chorus
