// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/cuda/device.cuh"
#include "chorus/cuda/error.cuh"
#include "chorus/cuda/owned.cuh"
#include "chorus/detail/current_error.hpp"

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::cuda {

/// A collective of device memory over a transport of the host: parts are copied out to pinned memory, travel, and are copied back; while one travels the
/// copies of others go on. Made by plan_all_reduce and its siblings for spans of a device; `enqueue`d again and again.
///
///     auto sum = chorus::cuda::plan_all_reduce(world, gradients, chorus::sum{});
///     sum.enqueue(stream);   // after what is on the stream; returns at once
///     …                      // other work, also on the stream; sum.advance() now and then, or a progress_thread
///     sum.finish();          // what comes on the stream from here on sees the result
///
/// `finish` waits until the network's part is over and leaves the last copies to the device: it does not wait for them, and never for a whole device. The
/// network is not the device's, so that somebody has to advance it, and a CUDA graph cannot hold it: `enqueue` on a stream that is being captured is refused.
///
/// Two pinned parts, two streams and three events, allocated once; nothing in a run. The device is the one that was current when the plan was made; the caller's
/// current device is never changed. Device memory belongs to the operation from `enqueue` until `finish` and, as ever on a stream, until the copies back are done.
/// Move-only; one thread at a time; destroying it waits for its copies. Errors: those of the host's plan, and system_failed where a call of CUDA failed; then the contents of the memory are unspecified.
class staged_plan {
 public:
    /// One stretch of the memory: copied from the device to the host's memory, and after the plan, back. No bytes: not copied.
    struct part {
        std::byte const* from = nullptr;
        std::size_t bytes_from = 0;
        std::byte* to = nullptr;
        std::size_t bytes_to = 0;
    };
    static constexpr std::size_t slots = 2;

    /// What one of the parts in flight lies in: `out` and `in` are pinned and may be the same; the plan is bound to them.
    struct place {
        pinned_buffer memory;
        std::byte* out = nullptr;
        std::byte* in = nullptr;
        std::optional<plan> whole;  ///< of parts of full length
    };

    /// Part i uses place i modulo two; the last one `last` instead of the place's plan, if there is one.
    staged_plan(std::vector<part> parts, std::array<place, slots> places, std::optional<plan> last)
        : model_{std::make_unique<model>(std::move(parts), std::move(places), std::move(last))} {}

    /// Begins after the work that is on `stream` now. Collective. Raises `invalid_argument` while one is under way, `unsupported` on a stream that is captured.
    void enqueue(cudaStream_t stream) { model_->enqueue(stream); }

    /// Does what can be done now without blocking. `done`: later work on the stream is ordered after the result.
    progress advance() noexcept { return model_->advance(); }

    /// Blocks the calling thread until the network's part is over. Throws what went wrong.
    void finish() { model_->finish(); }

    /// enqueue and finish.
    void run(cudaStream_t stream) {
        enqueue(stream);
        finish();
    }

    std::string describe() const { return model_->describe(); }

 private:
    struct model {
        model(std::vector<part> parts, std::array<place, slots> places, std::optional<plan> last)
            : parts_{std::move(parts)}, places_{std::move(places)}, last_{std::move(last)} {
            expect_success(cudaGetDevice(&device_), "cudaGetDevice");
        }

        ~model() {  // nobody reads or writes what is freed: the plans end first, then the copies
            last_.reset();
            for (place& each : places_) each.whole.reset();
            static_cast<void>(cudaStreamSynchronize(out_stream_));
            static_cast<void>(cudaStreamSynchronize(in_stream_));
        }

        void enqueue(cudaStream_t stream) {
            chorus::detail::expects(is_over(), [] { return "a staged plan is enqueued while it is under way"; });
            cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
            expect_success(cudaStreamIsCapturing(stream, &captured), "cudaStreamIsCapturing");
            if (captured != cudaStreamCaptureStatusNone)
                chorus::detail::raise(errc::unsupported, "a CUDA graph cannot hold an operation of the host's network; enqueue it outside of the capture");
            failure_.reset();
            stream_ = stream;
            copied_ = started_ = arrived_ = 0;
            device_scope const here{device_};
            asked_.record(stream);
            asked_.hold(out_stream_);
            asked_.hold(in_stream_);
            state_ = progress::idle;
            copy_out();
        }

        progress advance() noexcept {
            if (is_over()) return state_;
            CHORUS_TRY {
                device_scope const here{device_};
                std::size_t const before = copied_ + started_ + arrived_;
                copy_out();
                start_what_came_out();
                bool const moved = copy_back_what_arrived();
                if (arrived_ == parts_.size()) return conclude();
                return state_ = moved || copied_ + started_ + arrived_ != before ? progress::moved : progress::idle;
            }
            CHORUS_CATCH_ALL { fail(chorus::detail::current_error("a staged plan")); }
            return state_;
        }

        void finish() {
            for (std::uint32_t idle = 0; !is_over();) {
                idle = advance() == progress::idle ? idle + 1 : 0;
                if (idle > 64) std::this_thread::yield();
            }
            if (failure_) chorus::detail::raise(*failure_);
        }

        std::string describe() const {
            std::string text = std::to_string(parts_.size()) + " parts through pinned memory";
            if (places_[0].whole) text += ", each: " + places_[0].whole->describe();
            else if (last_) text += ": " + last_->describe();
            return text;
        }

     private:
        bool is_over() const noexcept { return state_ == progress::done || state_ == progress::failed; }

        plan& plan_of(std::size_t i) { return last_ && i + 1 == parts_.size() ? *last_ : *places_[i % slots].whole; }

        /// A place is free again when the last copy back from it is over, which the device sees to.
        void copy_out() {
            for (; copied_ < parts_.size() && copied_ < arrived_ + slots; ++copied_) {
                std::size_t const slot = copied_ % slots;
                part const& p = parts_[copied_];
                is_back_[slot].hold(out_stream_);
                if (p.bytes_from > 0) expect_success(cudaMemcpyAsync(places_[slot].out, p.from, p.bytes_from, cudaMemcpyDeviceToHost, out_stream_), "a copy to the host");
                is_out_[slot].record(out_stream_);
            }
        }

        /// In the order of the parts, on all ranks.
        void start_what_came_out() {
            for (; started_ < copied_ && is_out_[started_ % slots].is_over(); ++started_) plan_of(started_).start();
        }

        /// Whether messages moved.
        bool copy_back_what_arrived() {
            bool moved = false;
            for (std::size_t i = arrived_; i < started_; ++i) {
                progress const now = plan_of(i).advance();
                moved = moved || now == progress::moved;
                if (now == progress::failed) plan_of(i).wait();  // throws
                if (now != progress::done || i != arrived_) continue;
                part const& p = parts_[i];
                if (p.bytes_to > 0) expect_success(cudaMemcpyAsync(p.to, places_[i % slots].in, p.bytes_to, cudaMemcpyHostToDevice, in_stream_), "a copy to the device");
                is_back_[i % slots].record(in_stream_);
                ++arrived_;
            }
            return moved;
        }

        progress conclude() {
            if (!parts_.empty()) is_back_[(parts_.size() - 1) % slots].hold(stream_);
            return state_ = progress::done;
        }

        void fail(error const& why) noexcept {
            failure_ = why;
            state_ = progress::failed;
        }

        std::vector<part> parts_;
        std::array<place, slots> places_;
        std::optional<plan> last_;
        int device_ = 0;
        owned_stream out_stream_, in_stream_;
        owned_event asked_;
        std::array<owned_event, slots> is_out_, is_back_;
        cudaStream_t stream_ = nullptr;
        std::size_t copied_ = 0;   // parts whose copy to the host is enqueued
        std::size_t started_ = 0;  // parts that travel or have travelled
        std::size_t arrived_ = 0;  // parts whose copy to the device is enqueued
        progress state_ = progress::done;
        std::optional<error> failure_;
    };

    std::unique_ptr<model> model_;
};

}  // namespace chorus::cuda
