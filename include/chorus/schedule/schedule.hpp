// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chorus {

/// Where a block lives. A schedule never knows addresses or element counts, only blocks of these three arrays.
enum class space : std::uint8_t {
    data,    ///< the result: read before it was first written it shows the caller's input (all but all-to-all)
    input,   ///< all-to-all only: what this rank sends, one block per peer; never written
    scratch  ///< slots that the schedule asked for with `slot`
};

/// Consecutive blocks of one space. `{p, 1}` is block p of `data`.
struct block_range {
    rank_id first = 0;
    rank_id count = 0;
    space where = space::data;

    constexpr rank_id end() const noexcept { return first + count; }
    constexpr bool contains(rank_id block) const noexcept { return block >= first && block < end(); }
    constexpr bool overlaps(block_range other) const noexcept {
        return where == other.where && first < other.end() && other.first < end();
    }
    friend constexpr bool operator==(block_range, block_range) = default;
};

/// Which operand of a reduction the arriving (or other) values are: left means other ⊕ mine.
/// Every reduction names it, so that rank order can be kept and all ranks compute the same bits.
enum class side : std::uint8_t { left, right };

enum class step_kind : std::uint8_t {
    send,         ///< local → peer
    recv,         ///< peer → local
    recv_reduce,  ///< local = peer's ⊕ local (from = left) or local ⊕ peer's (from = right)
    copy,         ///< local = other
    reduce,       ///< local = other ⊕ local or local ⊕ other
    fold          ///< local = other[0] ⊕ … ⊕ local (at place `position`) ⊕ … : one wide accumulation, one rounding
};

constexpr bool is_local(step_kind kind) noexcept { return kind >= step_kind::copy; }

/// One thing that a rank does in a round: to whom, with which blocks, and on which side what comes is reduced.
struct step {
    step_kind kind = step_kind::send;
    side from = side::right;
    rank_id peer = nobody;     ///< send, recv, recv_reduce
    rank_id position = 0;      ///< fold: how many of `other`'s slots come before `local`
    block_range local{};
    block_range other{};       ///< copy, reduce: the source, as many elements; fold: one slot per other operand

    friend constexpr bool operator==(step const&, step const&) = default;
};

/// What one rank does in one collective: a list of rounds, a round being a list of steps. A pure value.
///
/// Meaning of a round: every send reads its blocks as they were when the round began; then the receives land, reductions
/// in the order listed; then the local steps run in the order listed. Two messages between the same two ranks meet in the order
/// in which they are listed, over the whole schedule.
///
/// `in_flight` = w says that round r needs nothing later than round r - w, so w rounds may be under way at once;
/// a round whose index is below w needs nothing but the input. Local steps still run in round order.
class schedule {
 public:
    constexpr schedule() = default;

    /// The caller's elements are cut into `blocks` blocks.
    constexpr explicit schedule(rank_id blocks) : blocks_{blocks} {}

    /// Opens the next round.
    constexpr schedule& round() {
        starts_.push_back(static_cast<std::uint32_t>(steps_.size()));
        return *this;
    }

    constexpr schedule& send(rank_id peer, block_range local) {
        return add({.kind = step_kind::send, .peer = peer, .local = local});
    }
    constexpr schedule& recv(rank_id peer, block_range local) {
        return add({.kind = step_kind::recv, .peer = peer, .local = local});
    }
    constexpr schedule& recv_reduce(rank_id peer, block_range local, side from = side::right) {
        return add({.kind = step_kind::recv_reduce, .from = from, .peer = peer, .local = local});
    }
    constexpr schedule& copy(block_range to, block_range source) {
        return add({.kind = step_kind::copy, .local = to, .other = source});
    }
    constexpr schedule& reduce(block_range into, block_range source, side from = side::right) {
        return add({.kind = step_kind::reduce, .from = from, .local = into, .other = source});
    }
    /// `into` is one block range; `slots` are consecutive scratch slots of the same length, the other operands in rank order,
    /// the first `position` of which come before `into`'s own value.
    constexpr schedule& fold(block_range into, block_range slots, rank_id position) {
        return add({.kind = step_kind::fold, .position = position, .local = into, .other = slots});
    }

    /// Asks for a scratch slot as long as `like` (blocks of data, or of input for all-to-all). Slots asked for one after
    /// another lie one after another in memory.
    constexpr block_range slot(block_range like) {
        slots_.push_back(like);
        return {static_cast<rank_id>(slots_.size() - 1), 1, space::scratch};
    }

    constexpr schedule& set_in_flight(std::uint32_t rounds) {
        in_flight_ = rounds == 0 ? 1 : rounds;
        return *this;
    }

    constexpr rank_id blocks() const noexcept { return blocks_; }
    constexpr std::uint32_t in_flight() const noexcept { return in_flight_; }
    constexpr std::uint32_t rounds() const noexcept { return static_cast<std::uint32_t>(starts_.size()); }
    constexpr std::vector<step> const& steps() const noexcept { return steps_; }
    constexpr std::vector<block_range> const& slots() const noexcept { return slots_; }

    /// Steps of round r are steps()[round_begin(r)] … steps()[round_begin(r + 1) - 1].
    constexpr std::uint32_t round_begin(std::uint32_t r) const noexcept {
        return r < starts_.size() ? starts_[r] : static_cast<std::uint32_t>(steps_.size());
    }

    friend constexpr bool operator==(schedule const&, schedule const&) = default;

 private:
    constexpr schedule& add(step next) {
        if (starts_.empty()) round();
        steps_.push_back(next);
        return *this;
    }

    rank_id blocks_ = 1;
    std::uint32_t in_flight_ = 1;
    std::vector<step> steps_;
    std::vector<std::uint32_t> starts_;
    std::vector<block_range> slots_;
};

/// One line per step, rounds numbered: for printing and for diffing.
inline std::string to_string(schedule const& plan) {
    auto blocks_text = [](block_range range) {
        static constexpr char const* names[] = {"data", "input", "scratch"};
        std::string text = names[static_cast<int>(range.where)];
        text += '[' + std::to_string(range.first);
        if (range.count != 1) text += ".." + std::to_string(range.end()) + ')';
        else text += ']';
        return text;
    };
    auto step_text = [&](step const& s) {
        bool const left = s.from == side::left;
        std::string const mine = blocks_text(s.local);
        switch (s.kind) {
            case step_kind::send: return "send " + mine + " to " + std::to_string(s.peer);
            case step_kind::recv: return "recv " + mine + " from " + std::to_string(s.peer);
            case step_kind::recv_reduce:
                return "recv_reduce " + mine + (left ? " left" : " right") + " from " + std::to_string(s.peer);
            case step_kind::copy: return "copy " + mine + " = " + blocks_text(s.other);
            case step_kind::reduce:
                return "reduce " + mine + (left ? " left " : " right ") + blocks_text(s.other);
            case step_kind::fold:
                return "fold " + mine + " at " + std::to_string(s.position) + " of " + blocks_text(s.other);
        }
        return std::string{};
    };
    std::string text;
    for (std::uint32_t r = 0; r < plan.rounds(); ++r) {
        text += "round " + std::to_string(r) + '\n';
        for (std::uint32_t i = plan.round_begin(r); i < plan.round_begin(r + 1); ++i)
            text += "  " + step_text(plan.steps()[i]) + '\n';
    }
    return text;
}

}  // namespace chorus
