// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/dynamic_shared.cuh"
#include "chorus/cuda/global_memory.cuh"
#include "chorus/cuda/launch.cuh"

#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"

#include <doctest/doctest.h>

#include <vector>

using namespace chorus;
using cuda_on_cpu::device_buffer;

namespace {

// [kernel]
/// Each block turns its part around.
__global__ void reverse_parts(int const* in, int* out) {
    int* const part = cuda::dynamic_shared<int>();
    unsigned const begin = blockIdx.x * blockDim.x;
    part[threadIdx.x] = cuda::load(in + begin + threadIdx.x);
    __syncthreads();
    cuda::store(out + begin + threadIdx.x, part[blockDim.x - 1 - threadIdx.x]);
}
// […]

}  // namespace

TEST_CASE("every block has shared memory of its own") {
    std::vector<int> values(6 * 48);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i);
    // [test]
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        cuda_on_cpu::begin(seed);
        cuda_on_cpu::test_stream const stream;
        device_buffer<int> const in{values}, out{values.size()};
        cuda::launch(reverse_parts, 6, 48, 48 * sizeof(int), stream, in.data(), out.data());
        auto const turned = out.values(stream);
        for (std::size_t i = 0; i < values.size(); ++i) REQUIRE(turned[i] == values[i / 48 * 48 + 47 - i % 48]);
        CHECK(cuda_on_cpu::failure() == "");
        CHECK(cuda_on_cpu::moved().read == values.size() * sizeof(int));
    }
    // […]
}
