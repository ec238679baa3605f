// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/detail/cost_count.hpp"
#include "chorus/schedule/detail/prover.hpp"

#include <concepts>
#include <span>
#include <string>
#include <vector>

namespace chorus {

/// Whether a claim about schedules holds; if not, why, naming rank, round, step and block.
struct proof {
    bool holds = false;
    std::string why;

    explicit operator bool() const noexcept { return holds; }
};

/// Performs the schedules of all ranks, ranks[me] being that of rank me, on expressions, and says whether
///  - every send meets exactly one receive, of the same length for every element count and every uneven cut;
///  - nobody waits for ever, even where a send completes only once its receive is posted (no buffers at all);
///  - no value is read before it was written, and rounds under way at once leave one another's blocks alone;
///  - at the end every block that the collective demands holds each rank's contribution exactly once, combined in rank
///    order where the claim says so, and all ranks of an all-reduce computed it by the same operations in the same
///    order, so that they have the same bits.
/// Needs no transport. Time and memory grow with the blocks moved: 127 ranks take milliseconds.
inline proof prove(std::span<schedule const> ranks, claim const& said) {
    std::string why = detail::prover{ranks, said}.run();
    bool const holds = why.empty();
    return {holds, std::move(why)};
}

/// The schedules of all ranks; make(me) is that of rank me.
template <std::invocable<rank_id> MakeSchedule>
std::vector<schedule> schedules_of(rank_id size, MakeSchedule const& make) {
    std::vector<schedule> ranks;
    ranks.reserve(size);
    for (rank_id me = 0; me < size; ++me) ranks.push_back(make(me));
    return ranks;
}

template <std::invocable<rank_id> MakeSchedule>
proof prove(rank_id size, MakeSchedule const& make, claim const& said) {
    return prove(schedules_of(size, make), said);
}

/// The cost of these schedules by counting, each part being that of the rank that has most of it. `bytes` is what all
/// blocks of the caller's vector hold together, as in the cost functions; blocks are counted as equal.
inline cost counted(std::span<schedule const> ranks, double bytes) {
    detail::cost_count count{bytes};
    for (schedule const& plan : ranks) count.add(plan);
    return count.result();
}

}  // namespace chorus
