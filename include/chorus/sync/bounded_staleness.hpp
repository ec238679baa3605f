// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/sync/detail/bulletin.hpp"
#include "chorus/sync/detail/joined_spans.hpp"
#include "chorus/sync/sampled_barrier.hpp"

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// How the updates of the ranks are put together.
enum class staleness_sum : std::uint8_t {
    mean,  ///< each counts 1 / size
    sum    ///< each counts fully
};

/// Replicas kept together by updates that are sent to everybody and added whenever they come, as far apart as a `sampled_barrier` lets them: BSP, SSP, PSP and ASP without a
/// server. Each rank says how much it has moved the weights in all, w_i = w_0 + share · Σ_j U_j, and of each rank the latest U_j counts: what was not read in between is
/// not lost, and what a slow rank has not taken costs nobody memory.
///
/// Around a loop: the local update changes the weights in place, then `step` sends what it changed, waits as the rule says, and adds what has come. Where the rule asks everyone,
/// what is more than `bound` steps ahead is left for later: with bound 0 that is plain averaging of updates, added up in the order of ranks, with the same bits on all of them.
///
/// made by all members in the same order among their plans, with equal rule and counts, from equal weights | weights are the caller's and stay in place | n elements to
/// every other rank per step: for large n and bounds that all ranks obey, an average merged `bound` steps late sends 2n | memory: (2p + 3) n elements, more while messages
/// are under way | order of additions, and so the last bits, by arrival, bound 0 apart | ended by `close`, a collective; destroyed before, it aborts the group |
/// throws peer_lost, aborted, and after the group's deadline timed_out, which names who was waited for
template <transport Transport, std::floating_point Element>
class bounded_staleness {
 public:
    bounded_staleness(group<Transport> const& members, std::vector<std::span<Element>> weights, sampled_barrier const& rule,
                      staleness_sum how = staleness_sum::mean)
        : weights_{std::move(weights)}, sampler_{rule, members.rank(), members.size()}, count_{static_cast<std::size_t>(weights_.size())},
          share_{how == staleness_sum::mean ? static_cast<Element>(members.size()) : Element{1}}, asks_everyone_{rule.asks_everyone(members.size())},
          board_{std::make_unique<detail::bulletin<Transport>>(members, count_ * sizeof(Element), "bounded staleness")},
          clocks_(members.size(), 0), moved_(members.size(), std::vector<Element>(count_, Element{0})), mine_(count_, Element{0}), arrived_(count_, Element{0}) {
        base_.reserve(count_);
        for (std::size_t i = 0; i < count_; ++i) base_.push_back(weights_[i]);
    }

    /// Sends what the weights were changed by since they were last merged. Does not block.
    void push() {
        detail::expects(!is_waiting_, [&] { return "bounded_staleness on rank " + std::to_string(board_->rank()) + ": push before the last one was pulled for"; });
        ++clocks_[board_->rank()];
        tell();
        sampler_.draw();
        is_waiting_ = true;
    }

    /// If the rule lets this rank go on, adds what has come and says true. Does not block.
    bool try_pull() {
        if (!is_waiting_) return true;
        board_->advance();
        look();
        if (!sampler_.passes(mine(), [&](rank_id r) { return clocks_[r]; })) return false;
        merge();
        is_waiting_ = false;
        return true;
    }
    /// Looks at others from now on.
    void draw_again() { sampler_.draw(); }

    /// push, and waits until it may go on; draws again every `back_off`.
    void step() {
        push();
        auto drawn = std::chrono::steady_clock::now();
        board_->wait_until(
            [&] {
                if (try_pull()) return true;
                auto const now = std::chrono::steady_clock::now();
                if (now - drawn < sampler_.rule().back_off) return false;
                drawn = now;
                draw_again();
                return false;
            },
            [&] {
                rank_id const late = sampler_.blocked_by(mine(), [&](rank_id r) { return clocks_[r]; });
                std::string text = "clock " + std::to_string(mine()) + " waits for rank " + std::to_string(late);
                if (late < clocks_.size()) text += " at " + std::to_string(clocks_[late]);
                return std::pair{text, late};
            });
    }

    /// Collective: all updates of all ranks, what was changed since the last step included, have been added on all of them. The last bits may differ; `broadcast` or average once where that matters.
    void close() {
        begin_to_close();
        board_->close([&](rank_id r) { add(r); });
        settle();
    }
    /// The same without blocking: whether it is done.
    bool try_close() {
        begin_to_close();
        if (!board_->try_close([&](rank_id r) { add(r); })) return false;
        settle();
        return true;
    }

    step_id mine() const noexcept { return clocks_[board_->rank()]; }
    step_id of(rank_id r) const { return clocks_.at(r); }  ///< as known here
    barrier_sampler const& sampler() const noexcept { return sampler_; }

 private:
    void tell() {
        for (std::size_t i = 0; i < count_; ++i) mine_[i] += weights_[i] - base_[i];
        board_->publish(mine(), std::as_bytes(std::span{mine_}));
    }

    void begin_to_close() {
        if (is_closing_) return;
        if (!is_waiting_) tell();
        is_closing_ = true;
        is_waiting_ = false;
        add(board_->rank());
    }

    bool is_too_early(rank_id r) const noexcept { return asks_everyone_ && clocks_[r] > mine() && clocks_[r] - mine() > sampler_.rule().bound; }

    /// Learns clocks; takes what is needed to hear further: what blocks, and everything where nothing has to be left for later.
    void look() {
        for (rank_id r = 0; r < clocks_.size(); ++r) {
            if (r == board_->rank() || !board_->has_news(r)) continue;
            clocks_[r] = board_->news_clock(r);
            bool const blocks = mine() > sampler_.rule().bound && clocks_[r] < mine() - sampler_.rule().bound;
            if (!asks_everyone_ || blocks) {
                add(r);
                board_->take(r);
            }
        }
    }

    void merge() {
        for (rank_id r = 0; r < clocks_.size(); ++r) {
            if (r == board_->rank()) {
                add(r);
            } else if (board_->has_news(r) && !is_too_early(r)) {
                add(r);
                board_->take(r);
            }
        }
        settle();
    }

    /// What rank r has moved since it was last added.
    void add(rank_id r) {
        std::vector<Element>& before = moved_[r];
        if (r == board_->rank()) return add(before, mine_.data());
        clocks_[r] = board_->news_clock(r);
        add(before, reinterpret_cast<Element const*>(board_->news(r).data()));
    }
    void add(std::vector<Element>& before, Element const* now) noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            arrived_[i] += now[i] - before[i];
            before[i] = now[i];
        }
    }

    void settle() noexcept {
        for (std::size_t i = 0; i < count_; ++i) {
            base_[i] += arrived_[i] / share_;
            weights_[i] = base_[i];
            arrived_[i] = 0;
        }
    }

    detail::joined_spans<Element> weights_;
    barrier_sampler sampler_;
    std::size_t count_;
    Element share_;
    bool asks_everyone_;
    std::unique_ptr<detail::bulletin<Transport>> board_;
    std::vector<step_id> clocks_;
    std::vector<std::vector<Element>> moved_;  // U_j as last added
    std::vector<Element> mine_;                // U of this rank
    std::vector<Element> arrived_;             // not yet in the weights
    std::vector<Element> base_;                // the weights as last merged
    bool is_waiting_ = false;
    bool is_closing_ = false;
};

template <transport Transport, class Element>
bounded_staleness(group<Transport> const&, std::vector<std::span<Element>>, sampled_barrier const&) -> bounded_staleness<Transport, Element>;

}  // namespace chorus
