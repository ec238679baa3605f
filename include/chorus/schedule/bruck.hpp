// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"

#include <bit>
#include <string_view>

namespace chorus {

namespace detail {

/// Calls piece(first, count, done) for each of the one or two runs of blocks that first … first + count - 1 modulo
/// size are, `done` being how many blocks come before the run.
template <class Piece>
constexpr void around(rank_id first, rank_id count, rank_id size, Piece const& piece) {
    first %= size;
    rank_id const straight = count < size - first ? count : size - first;
    if (straight > 0) piece(first, straight, rank_id{0});
    if (count > straight) piece(rank_id{0}, count - straight, straight);
}

}  // namespace detail

/// All-gather and all-to-all in the fewest rounds for every p. In round k (d = 2^k) rank me receives from me + d.
///
/// all_gather  rounds ⌈log2 p⌉ | sent n(p-1)/p | no scratch: blocks land where they belong; a range that wraps around
///             from block p-1 to block 0 goes as two messages
/// all_to_all  rounds ⌈log2 p⌉ | sent n/p × the ones in the binary forms of 1 … p-1 (n/2 × log2 p for a power of two)
///             | scratch 2⌊p/2⌋ n/p | blocks must be equal
///
/// any p. All-gather moves no byte more than a ring and is best for short to middling blocks; all-to-all moves blocks
/// through other ranks and is best for short ones only. J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby,
/// "Efficient algorithms for all-to-all communications in multiport message-passing systems" (1997).
struct bruck {
    static constexpr std::string_view name = "bruck";
    static constexpr bool takes_uneven = false;

    constexpr schedule all_gather(rank_id me, rank_id size) const {
        schedule s{size};
        for (rank_id held = 1; held < size; held *= 2) {
            rank_id const many = held < size - held ? held : size - held;
            rank_id const to = (me + size - held) % size, from = (me + held) % size;
            auto send = [&](rank_id first, rank_id count, rank_id) { s.send(to, {first, count}); };
            auto receive = [&](rank_id first, rank_id count, rank_id) { s.recv(from, {first, count}); };
            s.round();
            detail::around(me, many, size, send);
            detail::around(from, many, size, receive);
        }
        return s;
    }

    // The block at offset i (from rank me + i in the end, so kept in data block me + i) moves i ranks down in all, by
    // one power of two per one in the binary form of i, lowest first. What moves in a round is packed in order of i.
    constexpr schedule all_to_all(rank_id me, rank_id size) const {
        schedule s{size};
        s.copy({me, 1}, {me, 1, space::input});
        if (size == 1) return s;
        block_range const packed = slots(s, size / 2), arrived = slots(s, size / 2);
        pack(s, me, size, 1, packed, arrived);
        for (rank_id d = 1; d < size; d *= 2) {
            rank_id const many = moving(d, size);
            s.round();
            s.send((me + size - d) % size, {packed.first, many, space::scratch});
            s.recv((me + d) % size, {arrived.first, many, space::scratch});
            unpack(s, me, size, d, arrived);
            if (2 * d < size) pack(s, me, size, 2 * d, packed, arrived);
        }
        return s;
    }

    constexpr cost all_gather_cost(rank_id size, double bytes) const {
        return {.rounds = rounds(size), .bytes_sent = bytes * (size - 1) / size};
    }
    constexpr cost all_to_all_cost(rank_id size, double bytes) const {
        double moved = 0;
        for (rank_id d = 1; d < size; d *= 2) moved += moving(d, size);
        return {.rounds = rounds(size),
                .bytes_sent = bytes * moved / size,
                .scratch_bytes = bytes * (2.0 * (size / 2)) / size};
    }

    friend constexpr bool operator==(bruck, bruck) = default;

 private:
    static constexpr double rounds(rank_id size) noexcept { return size > 1 ? double(std::bit_width(size - 1)) : 0.0; }

    /// How many offsets below `size` have the bit d set: those that move by d.
    static constexpr rank_id moving(rank_id d, rank_id size) noexcept {
        rank_id const rest = size % (2 * d);
        return size / (2 * d) * d + (rest > d ? rest - d : 0);
    }

    static constexpr block_range slots(schedule& s, rank_id count) {
        block_range all = s.slot({0, 1});
        for (rank_id i = 1; i < count; ++i) s.slot({0, 1});
        all.count = count;
        return all;
    }

    /// Fills `packed` with the offsets that move by d, run after run of d of them: a run's first never moved and is
    /// still in the input; its lower half waits in data; its upper half moved by d / 2 last and is in `arrived`.
    static constexpr void pack(schedule& s, rank_id me, rank_id size, rank_id d, block_range packed,
                               block_range arrived) {
        for (rank_id run = d, slot = packed.first; run < size; run += 2 * d) {
            rank_id const count = d < size - run ? d : size - run;
            rank_id const half = d / 2 < count ? d / 2 : count;
            s.copy({slot, 1, space::scratch}, {(me + size - run) % size, 1, space::input});
            if (half > 1)
                detail::around(me + run + 1, half - 1, size, [&](rank_id first, rank_id many, rank_id done) {
                    s.copy({slot + 1 + done, many, space::scratch}, {first, many});
                });
            if (half > 0 && count > half)
                s.copy({slot + half, count - half, space::scratch},
                       {arrived.first + run / d * half, count - half, space::scratch});
            slot += count;
        }
    }

    /// Puts what arrived over distance d into data, but for the offsets that move on in the next round.
    static constexpr void unpack(schedule& s, rank_id me, rank_id size, rank_id d, block_range arrived) {
        for (rank_id run = d, slot = arrived.first; run < size; run += 2 * d) {
            rank_id const count = d < size - run ? d : size - run;
            if ((run & (2 * d)) == 0)
                detail::around(me + run, count, size, [&](rank_id first, rank_id many, rank_id done) {
                    s.copy({first, many}, {slot + done, many, space::scratch});
                });
            slot += count;
        }
    }
};
static_assert(all_gather_algorithm<bruck> && all_to_all_algorithm<bruck>);

}  // namespace chorus
