// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/transport/rendezvous.hpp"

#include "suites/failure_list.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace suites {

/// What rank `r` gives in a round: 0 … 299 bytes that depend on rank and round.
inline std::vector<std::byte> given_by(chorus::rank_id r, std::uint64_t round) {
    chorus::counter_random const random{round + 1, r};
    std::vector<std::byte> bytes(static_cast<std::size_t>(random.below(0, 300)));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(random.bits(i + 1));
    return bytes;
}

/// Called by every rank at once: the law of `exchange`, checked for so many rounds.
template <chorus::bootstrap Meeting> void check_exchanges(Meeting& meet, std::uint64_t rounds, failure_list& failures) {
    for (std::uint64_t round = 0; round < rounds; ++round) {
        auto const all = meet.exchange(given_by(meet.rank(), round));
        bool is_right = all.size() == meet.size();
        for (chorus::rank_id r = 0; is_right && r < meet.size(); ++r) is_right = all[r] == given_by(r, round);
        if (!is_right)
            failures.add("rank " + std::to_string(meet.rank()) + " got something else in round " +
                         std::to_string(round));
    }
}

}  // namespace suites
