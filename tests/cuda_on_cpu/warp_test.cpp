// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/global_memory.cuh"
#include "chorus/cuda/launch.cuh"

#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

// What the 32 threads of a warp do together, against what the documentation of CUDA C++ says of each.

using namespace chorus;
using cuda_on_cpu::device_buffer;

namespace {

__global__ void ask_warp(unsigned* out) {
    unsigned const t = threadIdx.x;
    unsigned* const mine = out + t * 16;
    mine[0] = __shfl_sync(0xFFFFFFFFu, t * 3, 5);
    mine[1] = __shfl_sync(0xFFFFFFFFu, t * 3, 9, 8);
    mine[2] = __shfl_up_sync(0xFFFFFFFFu, t, 4);
    mine[3] = __shfl_down_sync(0xFFFFFFFFu, t, 4, 16);
    mine[4] = __shfl_xor_sync(0xFFFFFFFFu, t, 3);
    mine[5] = __ballot_sync(0xFFFFFFFFu, t % 3 == 0);
    mine[6] = static_cast<unsigned>(__any_sync(0xFFFFFFFFu, t == 31));
    mine[7] = static_cast<unsigned>(__all_sync(0xFFFFFFFFu, t < 31));
    mine[8] = __match_any_sync(0xFFFFFFFFu, t / 5);
    mine[9] = static_cast<unsigned>(__shfl_xor_sync(0xFFFFFFFFu, 1e300 * t, 16) / 1e300 + 0.5);
    if (t % 2 == 0) mine[10] = __ballot_sync(0x55555555u, t > 8);
    else mine[10] = __ballot_sync(0xAAAAAAAAu, t > 8);
    mine[11] = static_cast<unsigned>(__syncthreads_count(t < 7));
    mine[12] = static_cast<unsigned>(__syncthreads_and(t < 32));
    mine[13] = static_cast<unsigned>(__syncthreads_or(t == 32));
    if (t < 20) mine[14] = __shfl_up_sync(__ballot_sync(0x000FFFFFu, 1), t, 1);
}

}  // namespace

TEST_CASE("shuffles, ballots, votes and counted barriers give what they should, in every order of threads") {
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        cuda_on_cpu::begin(seed);
        device_buffer<unsigned> const out{32 * 16};
        cuda::launch(ask_warp, 1, 32, 0, nullptr, out.data());
        auto const all = out.values();
        REQUIRE(cuda_on_cpu::failure() == "");
        for (unsigned t = 0; t < 32; ++t) {
            unsigned const* const mine = all.data() + t * 16;
            unsigned same = 0;
            for (unsigned other = 0; other < 32; ++other) same |= other / 5 == t / 5 ? 1u << other : 0u;
            REQUIRE(mine[0] == 15);
            REQUIRE(mine[1] == 3 * (t / 8 * 8 + 1));
            REQUIRE(mine[2] == (t < 4 ? t : t - 4));
            REQUIRE(mine[3] == (t % 16 < 12 ? t + 4 : t));
            REQUIRE(mine[4] == (t ^ 3));
            REQUIRE(mine[5] == 0x49249249u);
            REQUIRE(mine[6] == 1);
            REQUIRE(mine[7] == 0);
            REQUIRE(mine[8] == same);
            REQUIRE(mine[9] == (t ^ 16));
            REQUIRE(mine[10] == (t % 2 == 0 ? 0x55555400u : 0xAAAAAA00u));
            REQUIRE(mine[11] == 7);
            REQUIRE(mine[12] == 1);
            REQUIRE(mine[13] == 0);
            if (t < 20) REQUIRE(mine[14] == (t == 0 ? 0 : t - 1));
        }
    }
}
