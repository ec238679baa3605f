// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/cuda/error.cuh"

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>

namespace chorus::cuda {

/// A stream of the current device that does not wait for the legacy one. Move-only.
class owned_stream {
 public:
    owned_stream() { expect_success(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
    owned_stream(owned_stream&& other) noexcept : stream_{std::exchange(other.stream_, nullptr)} {}
    owned_stream& operator=(owned_stream&& other) noexcept {
        std::swap(stream_, other.stream_);
        return *this;
    }
    ~owned_stream() {
        if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
    }
    operator cudaStream_t() const noexcept { return stream_; }

 private:
    cudaStream_t stream_ = nullptr;
};

/// An event of the current device that measures no time. Move-only.
class owned_event {
 public:
    owned_event() { expect_success(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreateWithFlags"); }
    owned_event(owned_event&& other) noexcept : event_{std::exchange(other.event_, nullptr)} {}
    owned_event& operator=(owned_event&& other) noexcept {
        std::swap(event_, other.event_);
        return *this;
    }
    ~owned_event() {
        if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
    }
    operator cudaEvent_t() const noexcept { return event_; }

    void record(cudaStream_t stream) { expect_success(cudaEventRecord(event_, stream), "cudaEventRecord"); }
    /// Later work of `stream` waits for what was recorded.
    void hold(cudaStream_t stream) const { expect_success(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent"); }
    /// Whether what was recorded is over. Raises what went wrong before it.
    bool is_over() const {
        cudaError_t const result = cudaEventQuery(event_);
        if (result == cudaErrorNotReady) return false;
        expect_success(result, "work before an event");
        return true;
    }

 private:
    cudaEvent_t event_ = nullptr;
};

/// Memory of the host that devices copy to and from without a copy in between (pinned). Move-only; no bytes: no memory.
class pinned_buffer {
 public:
    pinned_buffer() = default;
    explicit pinned_buffer(std::size_t bytes) : bytes_{bytes} {
        void* made = nullptr;
        if (bytes == 0) return;
        expect_success(cudaHostAlloc(&made, bytes, cudaHostAllocPortable), [&] { return "allocating " + std::to_string(bytes) + " pinned bytes"; });
        data_ = static_cast<std::byte*>(made);
    }
    pinned_buffer(pinned_buffer&& other) noexcept : data_{std::exchange(other.data_, nullptr)}, bytes_{std::exchange(other.bytes_, 0)} {}
    pinned_buffer& operator=(pinned_buffer&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~pinned_buffer() {
        if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
    }
    std::byte* data() const noexcept { return data_; }
    std::size_t bytes() const noexcept { return bytes_; }

 private:
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace chorus::cuda
