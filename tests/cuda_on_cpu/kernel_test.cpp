// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/dynamic_shared.cuh"
#include "chorus/cuda/global_memory.cuh"
#include "chorus/cuda/launch.cuh"

#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"
#include "cuda_on_cpu/trials.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <vector>

// Kernels that are right, and the same with one thing missing: the first hold for every seed, the others are caught.

using namespace chorus;
using cuda_on_cpu::always_holds;
using cuda_on_cpu::device_buffer;
using cuda_on_cpu::is_caught;

namespace {

enum class missing { nothing, barrier, second_barrier, warp_barrier, atomic, ticket, wait, tail };

/// The sum of a block's numbers by halving.
template <missing What> __global__ void sum_of_block(unsigned const* in, unsigned* out) {
    unsigned* const part = cuda::dynamic_shared<unsigned>();
    part[threadIdx.x] = cuda::load(in + blockIdx.x * blockDim.x + threadIdx.x);
    if (What != missing::barrier) __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
        if (What != missing::second_barrier) __syncthreads();
    }
    if (threadIdx.x == 0) cuda::store(out + blockIdx.x, part[0]);
}

/// Each lane takes its neighbour's number through shared memory.
template <missing What> __global__ void rotate_warp(unsigned* values) {
    unsigned* const part = cuda::dynamic_shared<unsigned>();
    part[threadIdx.x] = cuda::load(values + threadIdx.x);
    if (What != missing::warp_barrier) __syncwarp();
    cuda::store(values + threadIdx.x, part[threadIdx.x / 32 * 32 + (threadIdx.x + 1) % 32]);
}

template <missing What> __global__ void count_threads(unsigned* total) {
    if (What == missing::atomic) cuda::store(total, cuda::load(total) + 1);
    else atomicAdd(total, 1u);
}

/// Each block adds its number to what the block before it left: blocks are numbered as they come.
template <missing What> __global__ void chain_of_blocks(unsigned* ticket, unsigned* sums) {
    unsigned const mine = What == missing::ticket ? blockIdx.x : atomicAdd(ticket, 1u);
    unsigned before = 0;
    while (mine != 0 && (before = atomicAdd(sums + mine - 1, 0u)) == 0) {
        if (What == missing::wait) break;
        __nanosleep(20);
    }
    atomicExch(sums + mine, before + mine + 1);
}

template <missing What> __global__ void double_each(unsigned* values, unsigned count) {
    unsigned const at = blockIdx.x * blockDim.x + threadIdx.x;
    if (What == missing::tail ? at <= count : at < count) cuda::store(values + at, 2 * cuda::load(values + at));
}

__global__ void shuffle_in_a_branch(unsigned* out) {
    if (threadIdx.x % 2 == 0) out[threadIdx.x] = __shfl_xor_sync(0xFFFFFFFFu, threadIdx.x, 2);
    else out[threadIdx.x] = __ballot_sync(0xFFFFFFFFu, 1);
}

__global__ void wait_for_nobody(unsigned* flag) {
    while (atomicAdd(flag, 0u) == 0) __nanosleep(20);
}

std::vector<unsigned> numbers(std::size_t count) {
    std::vector<unsigned> made(count);
    std::iota(made.begin(), made.end(), 1u);
    return made;
}

template <missing What> bool sums_of_blocks(std::uint64_t) {
    device_buffer<unsigned> const in{numbers(3 * 64)}, out{3};
    cuda::launch(sum_of_block<What>, 3, 64, 64 * sizeof(unsigned), nullptr, in.data(), out.data());
    return out.values() == std::vector<unsigned>{64 * 65 / 2, 64 * 65 / 2 + 64 * 64, 64 * 65 / 2 + 2 * 64 * 64};
}
template <missing What> bool rotated(std::uint64_t) {
    device_buffer<unsigned> const values{numbers(64)};
    cuda::launch(rotate_warp<What>, 1, 64, 64 * sizeof(unsigned), nullptr, values.data());
    auto const turned = values.values();
    for (unsigned i = 0; i < 64; ++i)
        if (turned[i] != i / 32 * 32 + (i + 1) % 32 + 1) return false;
    return true;
}
template <missing What> bool counted(std::uint64_t) {
    device_buffer<unsigned> const total{std::vector<unsigned>(1)};
    cuda::launch(count_threads<What>, 4, 40, 0, nullptr, total.data());
    return total.values()[0] == 160;
}
template <missing What> bool chained(std::uint64_t) {
    device_buffer<unsigned> const ticket{std::vector<unsigned>(1)}, sums{std::vector<unsigned>(9)};
    cuda::launch(chain_of_blocks<What>, 9, 1, 0, nullptr, ticket.data(), sums.data());
    return cudaDeviceSynchronize() == cudaSuccess && sums.values()[8] == 45;
}
template <missing What> bool doubled(std::uint64_t) {
    device_buffer<unsigned> const values{numbers(50)};
    cuda::launch(double_each<What>, 2, 32, 0, nullptr, values.data(), 50u);
    return cudaDeviceSynchronize() == cudaSuccess && values.values()[49] == 100;
}

}  // namespace

TEST_CASE("a missing barrier of a block is caught, before the first read and before the next write") {
    CHECK(always_holds(sums_of_blocks<missing::nothing>));
    CHECK(is_caught(sums_of_blocks<missing::barrier>));
    CHECK(is_caught(sums_of_blocks<missing::second_barrier>));
}

TEST_CASE("a missing barrier of a warp is caught") {
    CHECK(always_holds(rotated<missing::nothing>));
    CHECK(is_caught(rotated<missing::warp_barrier>));
}

TEST_CASE("a count that is not atomic is caught") {
    CHECK(always_holds(counted<missing::nothing>));
    CHECK(is_caught(counted<missing::atomic>));
}

TEST_CASE("blocks that wait for one another must take tickets, and must wait") {
    CHECK(always_holds(chained<missing::nothing>));
    CHECK(is_caught(chained<missing::ticket>));
    CHECK(is_caught(chained<missing::wait>));
}

TEST_CASE("one element too many is caught, and told") {
    CHECK(always_holds(doubled<missing::nothing>));
    CHECK(is_caught(doubled<missing::tail>));
    cuda_on_cpu::begin(1);
    CHECK_FALSE(doubled<missing::tail>(1));
    CHECK(cuda_on_cpu::failure().find("byte 200 of an allocation of 201 bytes") != std::string::npos);
    CHECK(cuda_on_cpu::failure().find("thread (18, 0, 0) of block (1, 0, 0): reads 4 bytes") == 0);
    cuda_on_cpu::begin(1);
}

TEST_CASE("a kernel that cannot get on ends, and says where") {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
        cuda_on_cpu::begin(seed);
        device_buffer<unsigned> const out{std::vector<unsigned>(32)};
        cuda::launch(shuffle_in_a_branch, 1, 32, 0, nullptr, out.data());
        CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
        CHECK(cuda_on_cpu::failure().find("the kernel cannot get on") == 0);
        CHECK(cuda_on_cpu::failure().find("waits in __ballot_sync") != std::string::npos);
    }
    cuda_on_cpu::begin(1);
    device_buffer<unsigned> const flag{std::vector<unsigned>(1)};
    cuda::launch(wait_for_nobody, 1, 1, 0, nullptr, flag.data());
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK(cuda_on_cpu::failure().find("no thread of the kernel gets on") == 0);
    cuda_on_cpu::begin(1);
}
