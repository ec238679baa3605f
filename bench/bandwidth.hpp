// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chorus/schedule/algorithm.hpp>

#include <cstdint>

namespace bench {

/// Bytes that the busiest link must carry for each byte of the vector, whatever the algorithm (the usual convention):
/// bus bandwidth = algorithm bandwidth * factor. One rank moves nothing: 0. The vector is, per rank, all of it: for
/// collectives with a block for every rank the sum of the blocks.
constexpr double bus_factor(chorus::collective operation, std::uint32_t ranks) noexcept {
    if (ranks < 2) return 0;
    double const others = static_cast<double>(ranks - 1) / ranks;
    switch (operation) {
        case chorus::collective::all_reduce: return 2 * others;
        case chorus::collective::reduce_scatter:
        case chorus::collective::all_gather:
        case chorus::collective::gather:
        case chorus::collective::scatter:
        case chorus::collective::all_to_all: return others;
        case chorus::collective::broadcast:
        case chorus::collective::reduce:
        case chorus::collective::scan:
        case chorus::collective::exclusive_scan: return 1;
        case chorus::collective::barrier: return 0;
    }
    return 0;
}

/// In GB/s, 1 GB = 10^9 bytes. Finite whatever is fed in: no time, no bandwidth.
struct bandwidth {
    double algorithm = 0;
    double bus = 0;
};

constexpr bandwidth bandwidth_of(chorus::collective operation, std::uint32_t ranks, double bytes,
                                 double seconds) noexcept {
    if (!(seconds > 0) || !(bytes > 0)) return {};
    double const algorithm = bytes / seconds / 1e9;
    return {algorithm, algorithm * bus_factor(operation, ranks)};
}

}  // namespace bench
