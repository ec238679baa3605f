// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/cuda/detail/nccl_member.cuh"
#include "chorus/cuda/device.cuh"
#include "chorus/cuda/owned.cuh"
#include "chorus/detail/current_error.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace chorus::cuda {

/// A collective of device memory by NCCL, used as `staged_plan` is: `enqueue` on a stream, `advance`, `finish`. The device moves it on: nobody has to advance it, and what
/// comes on the stream after `enqueue` sees the result, also without `finish`. `finish` waits until it is over, and is where a lost rank becomes an error instead of a hang.
///
/// The deadline is the communicator's and counts from `enqueue`, what is on the stream before included. When it passes, or NCCL reports a failure, the communicator is aborted:
/// the stream goes on, the contents of the memory are unspecified. On a stream that is being captured the operation becomes part of the graph: `finish` then has nothing to wait
/// for, and the graph's launches are watched by `nccl_communicator::check`. Memory belongs to the operation until it is over, a graph's as long as the graph lives. Nothing is allocated in a run by the plan. Move-only; one
/// thread at a time.
class nccl_plan {
 public:
    using operation = std::function<ncclResult_t(ncclComm_t, cudaStream_t)>;

    /// `name` is that of NCCL's call.
    nccl_plan(std::shared_ptr<chorus::detail::nccl_member> member, char const* name, operation call)
        : model_{std::make_unique<model>(std::move(member), name, std::move(call))} {}

    /// Collective. Begins after the work that is on `stream` now, which must be of the communicator's device. Returns when NCCL has accepted it: at once, but for the first
    /// ones of a communicator, which connect. Raises invalid_argument while one is under way, timed_out, peer_lost, system_failed, and poisoned after a failure.
    void enqueue(cudaStream_t stream) { model_->enqueue(stream); }

    /// Asks how it is, without blocking. `done`: it is over. After work was captured there is nothing to do: `done`.
    progress advance() noexcept { return model_->advance(); }

    /// Blocks the calling thread until it is over. Throws what went wrong.
    void finish() { model_->finish(); }

    /// enqueue and finish.
    void run(cudaStream_t stream) {
        enqueue(stream);
        finish();
    }

    std::string describe() const { return model_->describe(); }

 private:
    struct model {
        model(std::shared_ptr<chorus::detail::nccl_member> of, char const* name, operation call)
            : member_{std::move(of)}, name_{name}, call_{std::move(call)}, over_{make_event(member_->device())} {}

        static owned_event make_event(int device) {
            device_scope const here{device};
            return {};
        }

        void enqueue(cudaStream_t stream) {
            chorus::detail::expects(state_ == progress::done || state_ == progress::failed, [] { return "an NCCL plan is enqueued while it is under way"; });
            device_scope const here{member_->device()};
            cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
            expect_success(cudaStreamIsCapturing(stream, &captured), "cudaStreamIsCapturing");
            failure_.reset();
            began_ = std::chrono::steady_clock::now();
            member_->perform(name_, [&](ncclComm_t communicator) { return call_(communicator, stream); });
            state_ = progress::done;
            if (captured != cudaStreamCaptureStatusNone) return;
            over_.record(stream);
            state_ = progress::idle;
        }

        progress advance() noexcept {
            if (state_ == progress::done || state_ == progress::failed) return state_;
            CHORUS_TRY {
                device_scope const here{member_->device()};
                member_->check(name_);
                if (over_.is_over()) return state_ = progress::done;
                if (!member_->deadline().is_for_ever() && std::chrono::steady_clock::now() > member_->deadline().after(began_)) member_->fail_late(name_);
                return progress::idle;
            }
            CHORUS_CATCH_ALL { failure_ = chorus::detail::current_error(name_); }
            return state_ = progress::failed;
        }

        void finish() {
            while (advance() == progress::idle) std::this_thread::yield();
            if (failure_) chorus::detail::raise(*failure_);
        }

        std::string describe() const {
            return std::string{name_} + " of rank " + std::to_string(member_->rank()) + " of " + std::to_string(member_->size()) + ", on device " + std::to_string(member_->device());
        }

        std::shared_ptr<chorus::detail::nccl_member> member_;
        char const* name_;
        operation call_;
        owned_event over_;
        std::chrono::steady_clock::time_point began_{};
        progress state_ = progress::done;
        std::optional<error> failure_;
    };

    std::unique_ptr<model> model_;
};

}  // namespace chorus::cuda
