// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/base/types.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace chorus::gossip {

/// What becomes of a neighbour whose message does not come.
enum class when_late : std::uint8_t {
    fail,  ///< the step fails on all ranks that can be told, as a collective does
    skip   ///< it is left out of this step and the rank keeps its weight; who is lost is left out from then on
};

/// What a gossip method may be told.
struct mixing_options {
    time_limit deadline{};            ///< of a step, from `start`; for ever: the group's
    when_late late = when_late::fail;
    time_limit late_after{};          ///< with `skip`, from `start`: how long a neighbour that lives is waited for
    bool keeps_progress = true;       ///< what was added to the values since `start` is added to the mix; false: it is lost
    bool is_checked = true;           ///< all ranks compare what they were given when it is made: a blocking all-reduce of 16 bytes
};

/// What this rank has done so far.
struct mixing_counts {
    std::uint64_t steps = 0;
    std::uint64_t messages = 0;    ///< sent
    std::uint64_t bytes_sent = 0;  ///< their payload
    std::uint64_t skipped = 0;     ///< neighbours that a step did without
    std::uint64_t stale = 0;       ///< messages that came after their step and were dropped
    std::uint64_t unsent = 0;      ///< messages that were not sent because the neighbour had not taken the one before
    std::uint64_t late = 0;        ///< messages that came after their step and were taken all the same, by methods that may

    friend bool operator==(mixing_counts const&, mixing_counts const&) = default;
};

namespace detail {

/// What a stepper hides: the steps of one method on one transport.
class stepper_model {
 public:
    virtual ~stepper_model() = default;
    virtual void start(step_id step) = 0;
    virtual progress advance() noexcept = 0;
    virtual bool wait_for(time_limit limit) = 0;
    virtual double disagreement() = 0;
    virtual mixing_counts const& counts() const noexcept = 0;
};

}  // namespace detail

/// What all gossip methods have in common: one exchange with this step's neighbours, in the caller's hands.
///
/// Move-only; made by all ranks of the group in the same order among its plans. Then all lists of the first 16 steps are looked at, and unless `is_checked` is
/// false the ranks compare what they were given: `mismatch` on all of them if it differs, `invalid_argument` if lists are not mirrored. Nothing moves but in its calls and while other operations of the
/// group are waited for. Values belong to the caller, who may change them at any time; they are read in `start` and written by the `advance` or
/// `wait` that ends the step. Where the graph is periodic nothing is allocated after its first period, the very first step apart.
class stepper {
 public:
    /// Takes a snapshot of the values, sends it to this step's neighbours and begins to hear from them. Ranks start the same steps, in ascending order.
    /// Throws `invalid_argument` if a step is under way, if the number is not above the last one or if the graph's lists are not sound; nothing has been sent then.
    void start(step_id step) { model_->start(step); }

    /// Does what can be done now without blocking. `done` when the step is complete and before the first one, `failed` once it has failed.
    progress advance() noexcept { return model_->advance(); }

    /// Blocks until the step is complete. Throws what went wrong: timed_out, peer_lost, mismatch, aborted, poisoned; the values are then as the caller left them.
    void wait() { model_->wait_for({}); }

    /// Blocks for so long at most: true when complete; false when still under way, nothing lost. Throws like `wait`.
    bool wait_for(time_limit limit) { return model_->wait_for(limit); }

    /// start and wait.
    void run(step_id step) {
        start(step);
        wait();
    }

    /// The largest Euclidean distance of a rank's values from the mean over all ranks, the same on all. A blocking collective of all ranks, between
    /// steps: a vector of doubles is summed.
    double disagreement() { return model_->disagreement(); }

    mixing_counts const& counts() const noexcept { return model_->counts(); }

 protected:
    explicit stepper(std::unique_ptr<detail::stepper_model> model) : model_{std::move(model)} {}
    stepper(stepper&&) noexcept = default;
    stepper& operator=(stepper&&) noexcept = default;
    ~stepper() = default;

 private:
    std::unique_ptr<detail::stepper_model> model_;
};

}  // namespace chorus::gossip
