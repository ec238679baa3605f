// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/collective/compression.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace chorus {

/// What a call or plan may be told.
struct plan_options {
    time_limit deadline{};    ///< counted from `start`; for ever: the group's
    compression carried_by{};  ///< what messages of float are compressed with; none: they travel as they are
};

namespace detail {

/// What a plan hides: the engine of one transport.
class plan_model {
 public:
    virtual ~plan_model() = default;
    virtual void start() = 0;
    virtual progress advance() noexcept = 0;
    virtual bool wait_for(time_limit limit) = 0;
    virtual void rebind(std::byte const* input, std::byte* output) = 0;
    virtual std::string describe() const = 0;
    virtual std::uint64_t bytes_sent() const noexcept = 0;
};

}  // namespace detail

/// One collective operation bound to buffers, operation and algorithm: made once, run often. Peers, tags, scratch and the choice of algorithm are settled
/// when it is made; `start`, `advance` and `wait` allocate nothing.
///
/// Move-only. One thread drives a plan at a time. The buffers belong to the operation from `start` until it is done. Many plans may be under way at once,
/// started and awaited in any order: whoever waits helps along what else is under way in the group, its parents and subgroups.
/// Destroying a plan that is under way gives the operation up: the group is aborted, on the peers as well, and nobody touches the buffers afterwards.
class plan {
 public:
    explicit plan(std::unique_ptr<detail::plan_model> model) : model_{std::move(model)} {}

    /// Begins; sends what can be sent at once. Collective. Throws `invalid_argument` if it is under way, `poisoned` if the group has failed.
    void start() { model_->start(); }

    /// Does what can be done now without blocking. Says `done` when complete (and before the first start), `failed` once it has failed.
    progress advance() noexcept { return model_->advance(); }

    /// Blocks until done. Throws what went wrong: timed_out, peer_lost, mismatch, aborted, poisoned. Waiting for what is done does nothing.
    void wait() { model_->wait_for({}); }

    /// Blocks for so long at most: true when done; false when still under way, nothing lost. Throws like `wait`.
    bool wait_for(time_limit limit) { return model_->wait_for(limit); }

    /// start and wait.
    void run() {
        start();
        wait();
    }

    /// Other buffers of the same counts, for the next start; local.
    void rebind(void const* input, void* output) {
        model_->rebind(static_cast<std::byte const*>(input), static_cast<std::byte*>(output));
    }
    void rebind(void* in_place) { rebind(in_place, in_place); }

    /// Operation, algorithm, rounds, bytes, scratch, and why the algorithm was chosen.
    std::string describe() const { return model_->describe(); }

    /// Payload bytes that this rank sends each time, from the schedule.
    std::uint64_t bytes_sent() const noexcept { return model_->bytes_sent(); }

 private:
    std::unique_ptr<detail::plan_model> model_;
};

}  // namespace chorus
