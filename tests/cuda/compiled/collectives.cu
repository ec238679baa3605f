// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/collectives.cuh"

#include "chorus/transport/self.hpp"

using namespace chorus;

// Host code alone, which nvcc has to accept.
std::string described_collectives(cuda::device_span<float> all, cuda::device_span<float const> mine) {
    self_transport net;
    group world{net};
    return cuda::plan_all_reduce(world, all, sum{}).describe() + cuda::plan_broadcast(world, all, 0).describe() + cuda::plan_all_gather(world, mine, all).describe() +
           cuda::plan_reduce_scatter(world, mine, all, sum{}).describe() + cuda::plan_all_to_all(world, mine, all).describe();
}
