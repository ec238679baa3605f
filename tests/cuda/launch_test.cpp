// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/launch.cuh"

#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace chorus;
using cuda_on_cpu::device_buffer;

namespace {

__global__ void add_place(unsigned* out, unsigned more) {
    unsigned const at = blockIdx.x * blockDim.x + threadIdx.x;
    out[at] = at + more;
}

}  // namespace

TEST_CASE("a launch runs every thread of every block once, when its stream is waited for at the latest") {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        cuda_on_cpu::begin(seed);
        cuda_on_cpu::test_stream const stream;
        device_buffer<unsigned> const out{7 * 33};
        cuda::launch(add_place, 7, 33, 0, stream, out.data(), 5u);
        auto const values = out.values(stream);
        for (unsigned i = 0; i < values.size(); ++i) REQUIRE(values[i] == i + 5);
        CHECK(cuda_on_cpu::failure().empty());
    }
}

TEST_CASE("a grid of no blocks is nothing; a shape that is refused is told") {
    cuda_on_cpu::begin(1);
    cuda::launch(add_place, 0, 32, 0, nullptr, nullptr, 1u);
    CHECK(cuda_on_cpu::pending() == 0);
    std::string message;
    try {
        cuda::launch(add_place, dim3{3, 2}, 2048, 16, nullptr, nullptr, 1u);
    } catch (error const& failure) {
        CHECK(failure.code() == errc::invalid_argument);
        message = failure.message();
    }
    CHECK(message == "the launch of 3 x 2 x 1 blocks of 2048 x 1 x 1 threads with 16 bytes of shared memory failed: invalid configuration "
                     "argument (cudaErrorInvalidConfiguration)");
    CHECK_THROWS_AS(cuda::launch(add_place, 1, 32, 1 << 20, nullptr, nullptr, 1u), error);
    CHECK_NOTHROW(cuda::launch(add_place, 1, 1, 100 * 1024, nullptr, device_buffer<unsigned>{1}.data(), 1u));
    cudaDeviceSynchronize();
    cuda_on_cpu::begin(1);
}
