// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/broadcast.hpp"
#include "chorus/observe/detail/unobserved.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace chorus {

/// How the steady clock of this rank lies to that of rank 0 of a group.
struct clock_offset {
    std::chrono::nanoseconds to_first{0};  ///< to be added to this rank's clock
    std::chrono::nanoseconds error{0};     ///< it is at most so far off: half of the shortest round trip

    friend constexpr bool operator==(clock_offset const&, clock_offset const&) = default;
};

namespace detail {

inline std::int64_t steady_nanoseconds() noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Rank 1 of the pair asks, rank 0 says what its clock shows. The offset is known on rank 1 alone. `now()`: nanoseconds.
template <transport Transport, class Clock>
clock_offset measure_pair(group<Transport> const& pair, int round_trips, Clock const& now) {
    std::array<std::byte, 1> question{};
    std::array<std::int64_t, 1> answer{};
    plan ask = plan_broadcast(pair, question, 1);
    plan reply = plan_broadcast(pair, answer, 0);
    clock_offset best;
    for (int trip = 0; trip < round_trips; ++trip) {
        std::int64_t const before = now();
        ask.run();
        if (pair.rank() == 0) answer[0] = now();
        reply.run();
        std::int64_t const length = now() - before;
        std::chrono::nanoseconds const error{length / 2 + 1};
        if (trip == 0 || error < best.error) best = {std::chrono::nanoseconds{answer[0] - (before + length / 2)}, error};
    }
    return pair.rank() == 0 ? clock_offset{} : best;
}

}  // namespace detail

/// This rank's clock against rank 0's, from the shortest of some round trips with it.
///
/// collective | blocks, rank 0 for all pairs one after another: 2 (p - 1) round_trips messages of 8 bytes at most | the offset is as of now: clocks
/// of different hosts drift apart by some microseconds per second | not observed | throws what a broadcast throws
template <transport Transport>
clock_offset measure_clock_offset(group<Transport> const& members, int round_trips = 32) {
    detail::expects(round_trips > 0, [&] {
        return "measure_clock_offset on rank " + std::to_string(members.rank()) + ": " + std::to_string(round_trips) +
               " round trips, expected one at least";
    });
    clock_offset mine;
    for (rank_id p = 1; p < members.size(); ++p) {
        if (members.rank() != 0 && members.rank() != p) continue;
        clock_offset const measured =
            detail::measure_pair(detail::unobserved(members, std::array<rank_id, 2>{0, p}), round_trips, detail::steady_nanoseconds);
        if (members.rank() == p) mine = measured;
    }
    return mine;
}

}  // namespace chorus
