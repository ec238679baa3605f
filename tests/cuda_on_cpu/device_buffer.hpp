// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/cuda/device_span.cuh"
#include "chorus/cuda/error.cuh"

#include <cuda_runtime.h>

#include <cstddef>
#include <vector>

namespace cuda_on_cpu {

/// Device memory of a test, `offset` elements behind an address divisible by 256.
template <class T> class device_buffer {
 public:
    explicit device_buffer(std::size_t count, std::size_t offset = 0) : count_{count} {
        chorus::cuda::expect_success(cudaMalloc(&memory_, (count + offset) * sizeof(T) + 1), "cudaMalloc");
        begin_ = memory_ + offset;
    }
    explicit device_buffer(std::vector<T> const& values, std::size_t offset = 0) : device_buffer{values.size(), offset} {
        chorus::cuda::expect_success(cudaMemcpy(begin_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    device_buffer(device_buffer&& other) noexcept : memory_{other.memory_}, begin_{other.begin_}, count_{other.count_} { other.memory_ = nullptr; }
    device_buffer& operator=(device_buffer&&) = delete;
    ~device_buffer() { cudaFree(memory_); }

    T* data() const { return begin_; }
    chorus::cuda::device_span<T> span() const { return {begin_, count_}; }
    chorus::cuda::device_span<T const> read() const { return {begin_, count_}; }

    /// What lies there once all work on `stream` is done.
    std::vector<T> values(cudaStream_t stream = nullptr) const {
        std::vector<T> result(count_);
        chorus::cuda::expect_success(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
        chorus::cuda::expect_success(cudaMemcpy(result.data(), begin_, count_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return result;
    }

 private:
    T* memory_ = nullptr;
    T* begin_ = nullptr;
    std::size_t count_;
};

/// A stream that does not wait for the legacy one.
class test_stream {
 public:
    test_stream() { chorus::cuda::expect_success(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
    test_stream(test_stream const&) = delete;
    test_stream& operator=(test_stream const&) = delete;
    ~test_stream() { cudaStreamDestroy(stream_); }
    operator cudaStream_t() const { return stream_; }

 private:
    cudaStream_t stream_ = nullptr;
};

}  // namespace cuda_on_cpu
