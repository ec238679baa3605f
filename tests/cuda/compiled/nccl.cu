// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/transport/nccl.cuh"

using namespace chorus;

// Host code alone, which nvcc has to accept and to link with NCCL.
std::string described_nccl_plans(cuda::device_span<chorus::half> all, cuda::device_span<chorus::half const> mine) {
    self_rendezvous meet;
    cuda::nccl_communicator world{meet};
    world.split({{0}});
    return cuda::plan_all_reduce(world, all, mean{}).describe() + cuda::plan_broadcast(world, all, 0).describe() + cuda::plan_all_gather(world, mine, all).describe() +
           cuda::plan_reduce_scatter(world, mine, all, sum{}).describe() + cuda::plan_all_to_all(world, mine, all).describe();
}
