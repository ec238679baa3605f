// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/base/types.hpp"
#include "chorus/cuda/device.cuh"

#include <nccl.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::detail {

static_assert(NCCL_VERSION_CODE >= NCCL_VERSION(2, 18, 0), "chorus needs NCCL 2.18 or newer: communicators that do not block, and ncclCommSplit");

/// What a failed call of NCCL is to the caller: a value that was refused `invalid_argument`, a peer's end `peer_lost`, everything else `system_failed`.
inline errc code_of(ncclResult_t result) noexcept {
    switch (result) {
        case ncclInvalidArgument:
        case ncclInvalidUsage: return errc::invalid_argument;
        case ncclRemoteError: return errc::peer_lost;
        default: return errc::system_failed;
    }
}

inline ncclConfig_t nccl_config() {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    return config;
}

/// One rank's end of one communicator, and those that were split from it. No call blocks for longer than the deadline. After the first failure NCCL's
/// communicator is aborted, which ends its kernels, and all that is asked later fails with `poisoned`. Neither copied nor moved: NCCL writes into it.
class nccl_member {
 public:
    nccl_member(rank_id rank, rank_id ranks, int device, time_limit deadline) : rank_{rank}, ranks_{ranks}, device_{device}, deadline_{deadline} {}
    nccl_member(nccl_member const&) = delete;
    nccl_member& operator=(nccl_member const&) = delete;
    ~nccl_member() { end(); }

    rank_id rank() const noexcept { return rank_; }
    rank_id size() const noexcept { return ranks_; }
    int device() const noexcept { return device_; }
    time_limit deadline() const noexcept { return deadline_; }
    std::optional<error> const& failure() const noexcept { return failure_; }
    ncclComm_t* place() noexcept { return &communicator_; }  ///< where NCCL writes the communicator

    /// call(communicator) asks NCCL for something, which has been accepted when this returns. `name` is NCCL's.
    template <class Call> void perform(char const* name, Call const& call) {
        if (failure_) raise(errc::poisoned, text(name) + ": this communicator has failed: " + failure_->what(), failure_->peer());
        cuda::device_scope const here{device_};
        settle(name, call(communicator_));
    }

    /// Raises what went wrong since: here, or at a peer as far as NCCL knows.
    void check(char const* name) {
        if (failure_) raise(*failure_);
        ncclResult_t result = ncclSuccess;
        ncclResult_t const asked = ncclCommGetAsyncError(communicator_, &result);
        if (asked != ncclSuccess) result = asked;
        if (result != ncclSuccess && result != ncclInProgress) fail(name, result);
    }

    [[noreturn]] void fail_late(char const* name) {
        fail({errc::timed_out, text(name) + " did not come to its end within " + to_string(deadline_) + ": a rank has not come, or has another call, or work before it on the stream is late"});
    }

    /// The first reason stays.
    void abort(error const& why) noexcept {
        if (!failure_) failure_ = why;
        if (communicator_ != nullptr) static_cast<void>(ncclCommAbort(std::exchange(communicator_, nullptr)));
    }

 private:
    using clock = std::chrono::steady_clock;

    std::string text(char const* name) const { return std::string{name} + " of rank " + std::to_string(rank_) + " of " + std::to_string(ranks_); }

    [[noreturn]] void fail(error const& why) {
        abort(why);
        raise(why);
    }

    [[noreturn]] void fail(char const* name, ncclResult_t result) {
        std::string message = text(name) + " failed: " + ncclGetErrorString(result);
        char const* const more = communicator_ == nullptr ? nullptr : ncclGetLastError(communicator_);
        if (more != nullptr && *more != '\0') message += std::string{" ("} + more + ")";
        fail({code_of(result), message});
    }

    void settle(char const* name, ncclResult_t result) {
        auto const start = clock::now();
        while (result == ncclInProgress) {
            if (!deadline_.is_for_ever() && clock::now() > deadline_.after(start)) fail_late(name);
            std::this_thread::yield();
            ncclResult_t const asked = ncclCommGetAsyncError(communicator_, &result);
            if (asked != ncclSuccess) result = asked;
        }
        if (result != ncclSuccess) fail(name, result);
    }

    /// What was enqueued is still done, within the deadline.
    void end() noexcept {
        CHORUS_TRY {
            if (communicator_ == nullptr || failure_) return;
            perform("ncclCommFinalize", [](ncclComm_t ending) { return ncclCommFinalize(ending); });
            static_cast<void>(ncclCommDestroy(std::exchange(communicator_, nullptr)));
        }
        CHORUS_CATCH_ALL {}
    }

    rank_id rank_;
    rank_id ranks_;
    int device_;
    time_limit deadline_;
    ncclComm_t communicator_ = nullptr;
    std::optional<error> failure_;
};

/// What rank 0 tells the others: the version, by which all must be of one kind, and the key.
struct nccl_invitation {
    int version = 0;
    ncclUniqueId key = {};
};

}  // namespace chorus::detail
