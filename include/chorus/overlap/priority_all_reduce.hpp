// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/detail/staged_plan.hpp"
#include "chorus/detail/current_error.hpp"
#include "chorus/overlap/slice_order.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// Equal on all ranks, else `mismatch` on all.
struct priority_options {
    std::size_t slice = 40'000;  ///< elements at most
    std::size_t window = 2;      ///< slices under way at once, 1 … 64; more hide latency, fewer let a layer pass sooner
    time_limit deadline{};       ///< of each slice and each agreement, counted from its start, and of a wait in which nothing can be agreed; for ever: the group's
    compression carried_by{};    ///< each slice is carried by a fresh one of the same compressor, with residuals of its own
};

/// The reduction of all layers in slices, the first layer first (P3): for loops in which the last layer becomes ready first and the first is needed first.
///
///     chorus::priority_all_reduce reduce{world, gradients, chorus::mean{}};
///     for (step …) {
///         for (layer = last … 0) { /* backward */ reduce.ready(layer); }
///         for (layer = 0 … last) { reduce.wait_for(layer); /* update and forward */ }
///     }
///
/// Order: ranks agree, in an all-reduce of one bit per layer, on what is ready everywhere; `slice_order` grants `window` slices more; each rank starts what is granted
/// in that order, `window` at a time. The next agreement begins when no more than one granted slice is left to start, so it travels beside the slices. A layer that
/// becomes ready passes all but 2 * window + 1 slices. Ranks may call `ready` in any order: nothing starts anywhere before it can start everywhere.
/// Result: bit for bit that of plan_all_reduce over each slice with the same algorithm, whatever the order; so also that of whole layers where the algorithm's bits
/// do not depend on how a vector is split (`direct`, `all_pairs`).
///
/// construction collective, in the order of the group's plans | the caller owns the layers, which must not be touched from `ready` until `wait_for` | scratch: that of one plan
/// per slice | allocates nothing once made | one thread drives it at a time; it must not move while something is under way | after a throw the layers are unspecified
class priority_all_reduce {
 public:
    template <transport Transport, element Element, class Op, algorithm_choice Algorithm = automatic>
    priority_all_reduce(group<Transport> const& members, std::vector<std::span<Element>> const& layers, Op const& op, Algorithm const& algorithm = {},
                        priority_options const& options = {})
        : window_{options.window}, deadline_{options.deadline.is_for_ever() ? members.deadline() : options.deadline},
          tell_{detail::teller_of(members)}, here_{"priority_all_reduce on rank " + std::to_string(members.rank())} {
        expect_sound(options);
        std::vector<std::size_t> counts;
        for (std::span<Element> const layer : layers) counts.push_back(layer.size());
        order_ = slice_order{counts, options.slice};
        layers_.resize(layers.size());
        ready_.resize((layers.size() + 63) / 64);
        agreed_.resize(ready_.size() + 2);
        under_way_.reserve(window_);
        shape_ = shape_of(counts, options);
        agreement_.emplace(plan_all_reduce(members, agreed_, bit_and{}, automatic{}, {.deadline = deadline_}));
        for (slice const& s : order_.slices()) {
            plan_options const each{deadline_, options.carried_by.fresh()};
            slices_.push_back(plan_all_reduce(members, layers[s.layer].subspan(s.first, s.count), op, algorithm, each));
        }
    }

    std::size_t layers() const noexcept { return layers_.size(); }

    /// The layer holds this rank's part and may be reduced; starts what can be started. Each layer once per step; the first call after all layers have been
    /// waited for begins the next step. Local; throws `invalid_argument` for a layer that is ready already, and what went wrong before.
    void ready(std::size_t layer) {
        expect_layer(layer);
        if (failure_) detail::raise(*failure_);
        if (awaited_ == layers()) begin_step();
        detail::expects(!layers_[layer].is_ready, [&] {
            return here_ + ": layer " + std::to_string(layer) + " is ready twice; " + std::to_string(layers() - awaited_) + " layers have not been waited for";
        });
        layers_[layer].is_ready = true;
        ready_[layer / 64] |= std::uint64_t{1} << layer % 64;
        layers_[layer].open_slices = order_.slices_of(layer);
        ungranted_ += layers_[layer].open_slices;
        advance();
    }

    /// Does what can be done now without blocking: helps slices and agreement along, starts what may start. Says `done` when every layer that was made ready is
    /// complete, `failed` once something has failed.
    progress advance() noexcept {
        if (failure_) return progress::failed;
        bool moved = false;
        CHORUS_TRY {
            while (step_on(moved)) continue;
        }
        CHORUS_CATCH_ALL {
            fail(detail::current_error(here_));
            return progress::failed;
        }
        if (ungranted_ == 0 && !is_agreeing_ && under_way_.empty() && started_ == order_.order().size()) return progress::done;
        return moved ? progress::moved : progress::idle;
    }

    /// Blocks until the layer holds the result, driving all layers meanwhile. The layer must have been made ready. Throws what went wrong: timed_out, peer_lost,
    /// mismatch, aborted. Waiting again for what is complete does nothing.
    void wait_for(std::size_t layer) {
        expect_layer(layer);
        detail::expects(layers_[layer].is_ready, [&] { return here_ + ": waits for layer " + std::to_string(layer) + ", which was not made ready"; });
        stuck_since_.reset();
        while (layers_[layer].open_slices > 0) {
            if (advance() == progress::failed) detail::raise(*failure_);
            if (layers_[layer].open_slices > 0) rest(layer);
        }
        if (!std::exchange(layers_[layer].is_awaited, true)) ++awaited_;
    }

    /// Blocks until all layers hold the result.
    void finish() {
        for (std::size_t layer = 0; layer < layers(); ++layer) wait_for(layer);
    }

    /// Slices in the order of this step so far, and what they are; the same on all ranks.
    slice_order const& order() const noexcept { return order_; }

    /// How often the ranks have agreed since construction.
    std::uint64_t agreements() const noexcept { return agreements_; }

    std::string describe() const {
        return here_ + ": " + std::to_string(layers()) + " layers in " + std::to_string(slices_.size()) + " slices, " + std::to_string(window_) + " under way" +
               (slices_.empty() ? "" : "; the first: " + slices_.front().describe());
    }

 private:
    struct layer_state {
        std::size_t open_slices = 0;
        bool is_ready = false;
        bool is_awaited = false;
    };

    /// The other ranks are told, lest they wait.
    void expect_sound(priority_options const& options) const {
        if (options.slice > 0 && window_ >= 1 && window_ <= 64) return;
        error const refused{errc::invalid_argument, here_ + ": slices of at most " + std::to_string(options.slice) + " elements, " + std::to_string(window_) +
                                                        " under way; expected at least 1, and 1 … 64"};
        tell_(refused);
        detail::raise(refused);
    }

    void expect_layer(std::size_t layer) const {
        detail::expects(layer < layers(), [&] { return here_ + ": layer " + std::to_string(layer) + " of " + std::to_string(layers()); });
    }

    static std::uint64_t shape_of(std::span<std::size_t const> counts, priority_options const& options) {
        std::uint64_t hash = counter_random::mix(options.slice ^ counter_random::mix(options.window));
        for (std::size_t count : counts) hash = counter_random::mix(hash ^ (count + 1));
        return hash;
    }

    void begin_step() noexcept {
        order_.restart();
        started_ = 0;
        awaited_ = 0;
        for (layer_state& each : layers_) each = {};
        for (std::uint64_t& word : ready_) word = 0;
    }

    /// True if something began or ended, so that more may be possible.
    bool step_on(bool& moved) {
        bool const has_ended = end_slices(moved);
        bool const has_agreed = agree(moved);
        return start_slices() || has_ended || has_agreed;
    }

    /// False while it is under way; throws what it met.
    static bool is_done(plan& each, bool& moved) {
        progress const now = each.advance();
        if (now == progress::failed) each.wait();
        moved = moved || now != progress::idle;
        return now == progress::done;
    }

    bool end_slices(bool& moved) {
        std::size_t const ended = std::erase_if(under_way_, [&](std::size_t number) {
            if (!is_done(slices_[number], moved)) return false;
            --layers_[order_.slices()[number].layer].open_slices;
            return true;
        });
        return ended > 0;
    }

    bool start_slices() {
        std::size_t const before = started_;
        for (; started_ < order_.order().size() && under_way_.size() < window_; ++started_) {
            under_way_.push_back(order_.order()[started_]);
            slices_[under_way_.back()].start();
        }
        return started_ != before;
    }

    /// All ranks make the same agreements, since all know what was granted; each takes part as soon as it has something to be granted.
    bool agree(bool& moved) {
        if (!is_agreeing_) {
            if (ungranted_ == 0 || order_.order().size() - started_ > 1) return false;
            std::copy(ready_.begin(), ready_.end(), agreed_.begin());
            agreed_[ready_.size()] = shape_;
            agreed_[ready_.size() + 1] = ~shape_;
            agreement_->start();
            is_agreeing_ = true;
        }
        if (!is_done(*agreement_, moved)) return false;
        is_agreeing_ = false;
        ++agreements_;
        if (agreed_[ready_.size()] != ~agreed_[ready_.size() + 1])
            detail::raise(errc::mismatch, here_ + ": ranks differ in their layers' counts, in slice or in window; here " + describe());
        std::size_t const granted = order_.grant(agreed_, window_);
        ungranted_ -= granted;
        if (granted > 0) stuck_since_.reset();
        return true;
    }

    /// Waits for what must end before more can be done, in one go, so that the transport comes to sleep: the slice started first while no other may start, else the
    /// agreement. Neither waits for this rank: its peers have granted what is under way here, and whoever waits helps all of it along.
    void rest(std::size_t layer) {
        if (under_way_.size() == window_ || !is_agreeing_) return slices_[under_way_.front()].wait();
        agreement_->wait();
        if (!under_way_.empty() || deadline_.is_for_ever()) return;
        auto const now = std::chrono::steady_clock::now();
        if (!stuck_since_) stuck_since_ = now;
        if (now < deadline_.after(*stuck_since_)) return;
        fail({errc::timed_out, here_ + ": waits for layer " + std::to_string(layer) + "; within " + to_string(deadline_) + " the ranks had no layer ready in common. " + ready_text()});
        detail::raise(*failure_);
    }

    /// The layers that are ready here and not complete.
    std::string ready_text() const {
        std::string text = "Ready here and not complete:";
        for (std::size_t layer = 0; layer < layers(); ++layer)
            if (layers_[layer].open_slices > 0) text += ' ' + std::to_string(layer);
        return text;
    }

    void fail(error const& why) noexcept {
        CHORUS_TRY {
            failure_ = why;
            tell_(why);
        }
        CHORUS_CATCH_ALL {}
    }

    std::size_t window_;
    time_limit deadline_;
    detail::staged_plan::teller tell_;
    std::string here_;
    slice_order order_;
    std::vector<layer_state> layers_;
    std::vector<std::uint64_t> ready_;   // a bit per layer
    std::vector<std::uint64_t> agreed_;  // what the agreement is made in: the bits, the shape, and its complement
    std::uint64_t shape_ = 0;
    std::vector<plan> slices_;
    std::optional<plan> agreement_;
    std::vector<std::size_t> under_way_;
    std::size_t started_ = 0;    // of the order
    std::size_t ungranted_ = 0;  // slices of layers that are ready here
    std::size_t awaited_ = 0;    // layers
    std::uint64_t agreements_ = 0;
    bool is_agreeing_ = false;
    std::optional<std::chrono::steady_clock::time_point> stuck_since_;
    std::optional<error> failure_;
};

}  // namespace chorus
