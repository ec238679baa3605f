// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// g++ -std=c++20 -Iinclude examples/12_ucx.cpp -lucp -lucs -pthread -o first && torchrun --no-python --nproc-per-node 4 ./first

// [program]
#include <chorus/chorus.hpp>
#include <chorus/transport/rendezvous_tcp.hpp>
#include <chorus/transport/ucx.hpp>

#include <iostream>
#include <stdexcept>
#include <vector>

int main() {
    auto meet = chorus::tcp_rendezvous::from_environment();  // RANK, WORLD_SIZE, MASTER_ADDR … as launchers set them
    chorus::ucx_transport net{meet};
    chorus::group world{net};
    if (world.rank() == 0) std::cout << meet.describe() << '\n' << net.describe() << '\n';

    std::vector<float> gradient(1 << 20, 1.0f);
    chorus::all_reduce(world, gradient, chorus::sum{});

    if (gradient.back() != static_cast<float>(world.size())) throw std::runtime_error{"the sum is wrong"};
}
// […]
