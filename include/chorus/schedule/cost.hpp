// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

namespace chorus {

/// What a schedule costs its busiest rank (each maximum on its own; the ranks may differ).
/// `bytes` handed to a cost function is what the *caller's whole vector* holds on one rank: n for all-reduce, broadcast, reduce and
/// scan; the sum over all blocks for reduce-scatter, all-gather, gather, scatter and all-to-all.
/// A test counts the same numbers in the schedules, with a count that every block number divides.
struct cost {
    double rounds = 0;          ///< rounds in which some rank sends or receives
    double bytes_sent = 0;      ///< by the rank that sends most
    double bytes_reduced = 0;   ///< bytes of operands combined by the rank that combines most (a fold of k operands counts k - 1)
    double scratch_bytes = 0;   ///< slots of the rank that asks for most

    friend constexpr bool operator==(cost const&, cost const&) = default;
};

/// Time of a message of n bytes is latency + n * per_byte; reducing n bytes takes n * per_reduced_byte. In seconds.
struct link_model {
    double latency = 1e-6;
    double per_byte = 1e-10;
    double per_reduced_byte = 5e-11;
};

/// The alpha-beta-gamma estimate: seconds for a schedule of this cost on a uniform network.
constexpr double seconds(cost const& c, link_model const& link) {
    return c.rounds * link.latency + c.bytes_sent * link.per_byte + c.bytes_reduced * link.per_reduced_byte;
}

}  // namespace chorus
