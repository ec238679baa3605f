// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/owned.cuh"

#include "cuda_on_cpu/control.hpp"
#include "suites/expected_error.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <utility>

namespace cuda = chorus::cuda;

TEST_CASE("pinned memory is freed once, whoever it was handed to") {
    cuda_on_cpu::begin(1);
    std::size_t const before = cuda_on_cpu::allocated();
    {
        cuda::pinned_buffer first{100};
        CHECK(cuda_on_cpu::allocated() >= before + 100);
        cuda::pinned_buffer second{std::move(first)};
        first = cuda::pinned_buffer{};
        CHECK(second.bytes() == 100);
        std::memset(second.data(), 1, second.bytes());
    }
    CHECK(cuda_on_cpu::allocated() == before);
    CHECK(cuda::pinned_buffer{0}.data() == nullptr);
}

TEST_CASE("an event is over when what was recorded before it is, and holds other streams until then") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        cuda_on_cpu::begin(seed);
        cuda::owned_stream first, second;
        cuda::owned_event event;
        CHECK(event.is_over());  // nothing was recorded
        cuda::pinned_buffer const memory{8};
        std::memset(memory.data(), 0, 8);
        int* device = nullptr;
        REQUIRE(cudaMalloc(&device, 8) == cudaSuccess);
        REQUIRE(cudaMemsetAsync(device, 7, 8, first) == cudaSuccess);
        event.record(first);
        event.hold(second);
        REQUIRE(cudaMemcpyAsync(memory.data(), device, 8, cudaMemcpyDeviceToHost, second) == cudaSuccess);
        cuda::owned_event copied;
        copied.record(second);
        while (!copied.is_over()) {}
        CHECK(event.is_over());
        CHECK(memory.data()[7] == std::byte{7});
        REQUIRE(cudaFree(device) == cudaSuccess);
        CHECK(cuda_on_cpu::failure() == "");
    }
}

TEST_CASE("without a device nothing can be owned, and the error says so") {
    cuda_on_cpu::begin(1, {.devices = 0});
    CHECK(suites::unlike(chorus::errc::unsupported, {"no CUDA-capable device"}, [] { cuda::owned_stream const stream; }) == "");
    cuda_on_cpu::begin(1);
}
