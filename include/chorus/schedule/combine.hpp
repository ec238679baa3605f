// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/schedule/schedule.hpp"

#include <concepts>
#include <cstdint>
#include <span>

namespace chorus {

namespace detail {

constexpr void append(schedule& s, step const& next) {
    switch (next.kind) {
        case step_kind::send: s.send(next.peer, next.local); return;
        case step_kind::recv: s.recv(next.peer, next.local); return;
        case step_kind::recv_reduce: s.recv_reduce(next.peer, next.local, next.from); return;
        case step_kind::copy: s.copy(next.local, next.other); return;
        case step_kind::reduce: s.reduce(next.local, next.other, next.from); return;
        case step_kind::fold: s.fold(next.local, next.other, next.position); return;
    }
}

/// Appends the rounds of `from` to `to`, each step as `changed(step)`.
template <class Changed>
constexpr void append_rounds(schedule& to, schedule const& from, Changed const& changed) {
    for (std::uint32_t r = 0; r < from.rounds(); ++r) {
        to.round();
        for (std::uint32_t i = from.round_begin(r); i < from.round_begin(r + 1); ++i)
            append(to, changed(from.steps()[i]));
    }
}

}  // namespace detail

/// `first`, then `second`, which finds in `data` what `first` left there. Both must cut the vector into the same
/// number of blocks. Each has slots of its own. Rounds of the two never overlap: `in_flight` is 1, unless one of them
/// has no round.
constexpr schedule then(schedule first, schedule const& second) {
    detail::expects(first.blocks() == second.blocks(),
                    [] { return "schedules in sequence must cut into the same blocks"; });
    first.set_in_flight(first.rounds() == 0 ? second.in_flight() : second.rounds() == 0 ? first.in_flight() : 1);
    auto const slots_before = static_cast<rank_id>(first.slots().size());
    for (block_range const slot : second.slots()) first.slot(slot);
    auto moved = [&](block_range range) {
        if (range.where == space::scratch) range.first += slots_before;
        return range;
    };
    detail::append_rounds(first, second, [&](step next) {
        next.local = moved(next.local);
        next.other = moved(next.other);
        return next;
    });
    return first;
}

/// The same schedule among other ranks: peer p becomes rank_of(p).
template <std::invocable<rank_id> RankOf>
constexpr schedule mapped(schedule const& s, RankOf const& rank_of) {
    schedule result{s.blocks()};
    result.set_in_flight(s.in_flight());
    for (block_range const slot : s.slots()) result.slot(slot);
    detail::append_rounds(result, s, [&](step next) {
        if (!is_local(next.kind)) next.peer = rank_of(next.peer);
        return next;
    });
    return result;
}

/// Peer p becomes ranks[p].
constexpr schedule mapped(schedule const& s, std::span<rank_id const> ranks) {
    return mapped(s, [&](rank_id peer) { return ranks[peer]; });
}

/// The same schedule on a part of a longer vector: all its blocks together become the blocks `within` of a vector cut
/// into `blocks`, of which each gets as many as the next to within one. `within` must have at least as many blocks as
/// the schedule.
constexpr schedule placed(schedule const& s, rank_id blocks, block_range within) {
    detail::expects(within.count >= s.blocks() && within.end() <= blocks,
                    [] { return "a schedule can only be placed on as many blocks as it has, or more"; });
    auto begin = [&](rank_id block) {
        return within.first + static_cast<rank_id>(std::uint64_t{block} * within.count / s.blocks());
    };
    auto moved = [&](block_range range) {
        if (range.where == space::scratch || range.count == 0) return range;
        return block_range{begin(range.first), begin(range.end()) - begin(range.first), range.where};
    };
    schedule result{blocks};
    result.set_in_flight(s.in_flight());
    for (block_range const slot : s.slots()) result.slot(moved(slot));
    detail::append_rounds(result, s, [&](step next) {
        next.local = moved(next.local);
        next.other = moved(next.other);
        return next;
    });
    return result;
}

/// Adds empty rounds at the end until there are `rounds`, so that what follows is numbered alike on all ranks.
constexpr schedule padded(schedule s, std::uint32_t rounds) {
    while (s.rounds() < rounds) s.round();
    return s;
}

}  // namespace chorus
