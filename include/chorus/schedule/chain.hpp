// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"

#include <cstdint>
#include <string_view>

namespace chorus {

/// A pipeline of S segments from rank to rank: each rank passes a segment on in the round after it arrived.
///
/// broadcast  rounds p+S-2 | sent n | no scratch           (root, root + 1, … around to root - 1)
/// reduce     rounds p+S-2 | sent n | reduced 2n (n for p = 2) | no scratch
///            (two pipelines, from rank 0 up and from rank p-1 down, that meet in the root; the numbers are for the
///            worst root: with a longer arm of a ranks there are a+S-1 rounds, and a root at an end reduces n)
///
/// any p, any root | order of ranks kept | numbers are 0 for p = 1
/// Best for long vectors and few ranks, or where only neighbours are well connected; the time nears that of one
/// vector over one link for S well above p. The linear pipeline is folklore.
struct chain {
    static constexpr std::string_view name = "chain";
    static constexpr bool keeps_order = true;
    std::uint32_t segments = 8;

    constexpr schedule broadcast(rank_id me, rank_id size, rank_id root) const {
        schedule s{pieces()};
        if (size == 1) return s;
        rank_id const place = (me + size - root) % size;
        for (rank_id r = 0; r < size - 2 + pieces(); ++r) {
            s.round();
            if (place > 0 && in_time(r, place - 1)) s.recv((me + size - 1) % size, {r - (place - 1), 1});
            if (place + 1 < size && in_time(r, place)) s.send((me + 1) % size, {r - place, 1});
        }
        return s;
    }

    constexpr schedule reduce(rank_id me, rank_id size, rank_id root) const {
        schedule s{pieces()};
        if (size == 1) return s;
        rank_id const below = root, above = size - 1 - root;  // ranks in the two arms
        for (rank_id r = 0; r < (below > above ? below : above) - 1 + pieces(); ++r) {
            s.round();
            if (me > 0 && me <= root && in_time(r, me - 1)) s.recv_reduce(me - 1, {r - (me - 1), 1}, side::left);
            rank_id const place = size - 1 - me;
            if (place > 0 && me >= root && in_time(r, place - 1))
                s.recv_reduce(me + 1, {r - (place - 1), 1}, side::right);
            if (me < root && in_time(r, me)) s.send(me + 1, {r - me, 1});
            if (me > root && in_time(r, place)) s.send(me - 1, {r - place, 1});
        }
        return s;
    }

    constexpr cost broadcast_cost(rank_id size, double bytes) const {
        if (size == 1) return {};
        return {.rounds = double(size) - 2 + pieces(), .bytes_sent = bytes};
    }
    constexpr cost reduce_cost(rank_id size, double bytes) const {
        if (size == 1) return {};
        return {.rounds = double(size) - 2 + pieces(),
                .bytes_sent = bytes,
                .bytes_reduced = size > 2 ? 2 * bytes : bytes};
    }

    friend constexpr bool operator==(chain, chain) = default;

 private:
    constexpr rank_id pieces() const noexcept { return segments == 0 ? 1 : segments; }

    /// Whether a pipeline stage that starts in round `start` is at work in round r.
    constexpr bool in_time(rank_id r, rank_id start) const noexcept { return r >= start && r - start < pieces(); }
};
static_assert(broadcast_algorithm<chain> && reduce_algorithm<chain>);

}  // namespace chorus
