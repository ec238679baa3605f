// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "suites/transport_suite.hpp"

#include <cstdint>
#include <string>

namespace suites {

/// A barrier of ceil(log2 p) rounds (dissemination), entered with a number; the peers' numbers are those of the same
/// round.
template <class Net>
void numbered_barrier(rank_of<Net>& rank, std::uint64_t number) {
    std::uint64_t const p = rank.size();
    for (std::uint64_t distance = 1; distance < p; distance *= 2) {
        std::uint64_t arrived = 0;
        auto const to = static_cast<chorus::rank_id>((rank.me() + distance) % p);
        auto const from = static_cast<chorus::rank_id>((rank.me() + p - distance) % p);
        typename Net::ticket open[] = {
            rank.net().post_recv(from, {20, 0}, std::as_writable_bytes(std::span{&arrived, 1})),
            rank.net().post_send(to, {20, 0}, std::as_bytes(std::span{&number, 1}))};
        rank.finish(open, "barrier " + std::to_string(number));
        if (arrived != number)
            rank.check(false, "in barrier " + std::to_string(number) + " rank " + std::to_string(from) + " is in " +
                                  std::to_string(arrived));
    }
}

}  // namespace suites
