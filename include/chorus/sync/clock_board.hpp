// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/sync/detail/bulletin.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// Every rank's clock, the number of steps it has done, as the others know it: no collective, and no rank waits for another to read.
///
/// What is known of a rank is never ahead of its clock and never goes back. It is late by the way of a message and, for a rank that is far ahead of its readers, by what they
/// have not yet taken; who is waited for is known as soon as its message comes.
///
/// made by all members in the same order among their plans | `tick`, `advance`, `of` never block | 16 bytes to each peer and back per tick; two records per peer |
/// ended by `close`, a collective; destroyed before, it aborts the group | throws peer_lost, aborted, and from `close` timed_out after the group's deadline
template <transport Transport>
class clock_board {
 public:
    explicit clock_board(group<Transport> const& members)
        : board_{std::make_unique<detail::bulletin<Transport>>(members, 0, "clock board")}, clocks_(members.size(), 0) {}

    rank_id rank() const noexcept { return board_->rank(); }
    rank_id size() const noexcept { return board_->size(); }

    /// One step more is done on this rank; the others are told.
    void tick() {
        board_->publish(++clocks_[rank()], {});
        listen();
    }

    /// Hears what has come, and sends what waits.
    void advance() {
        board_->advance();
        listen();
    }

    step_id mine() const noexcept { return clocks_[rank()]; }
    step_id of(rank_id r) const { return clocks_.at(r); }  ///< as known here
    step_id slowest() const noexcept { return *std::min_element(clocks_.begin(), clocks_.end()); }

    /// Blocks until `holds()`, hearing the others meanwhile; `blamed()` names whom a deadline that passes is put down to.
    template <class Holds, class Blamed>
    void wait_until(Holds const& holds, Blamed const& blamed) {
        board_->wait_until([&] { return listen(), holds(); },
                           [&] {
                               rank_id const late = blamed();
                               std::string text = "clock " + std::to_string(mine()) + " waits";
                               if (late < size()) text += " for rank " + std::to_string(late) + " at " + std::to_string(of(late));
                               return std::pair{text, late};
                           });
    }

    /// Collective: afterwards every rank knows the last clock of all.
    void close() {
        board_->close([&](rank_id r) { clocks_[r] = board_->news_clock(r); });
    }

 private:
    void listen() {
        for (rank_id r = 0; r < size(); ++r)
            if (r != rank() && board_->has_news(r)) {
                clocks_[r] = board_->news_clock(r);
                board_->take(r);
            }
    }

    std::unique_ptr<detail::bulletin<Transport>> board_;
    std::vector<step_id> clocks_;
};

}  // namespace chorus
