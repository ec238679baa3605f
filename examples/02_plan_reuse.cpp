// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// A training loop makes its plan once: peers, message streams, scratch and algorithm are settled before the first step,
// and no step allocates.

#include <chorus/chorus.hpp>
#include <chorus/transport/thread.hpp>

#include <iostream>
#include <span>
#include <stdexcept>
#include <vector>

// [train]
void train(chorus::transport auto& net, std::span<float> gradient, int steps) {
    chorus::group world{net};
    auto reduce = chorus::plan_all_reduce(world, gradient, chorus::sum{}, chorus::ring{.segments = 4});
    if (world.rank() == 0) std::cout << reduce.describe() << '\n';

    for (int step = 0; step < steps; ++step) {
        for (float& g : gradient) g = static_cast<float>(step);  // stands for the backward pass
        reduce.start();
        // Anything that does not touch the gradient may happen here.
        reduce.wait();

        float const sum = static_cast<float>(step) * static_cast<float>(world.size());
        for (float g : gradient)
            if (g != sum) throw std::runtime_error{"the sum is wrong"};
    }
}
// […]

int main() {
    chorus::thread_fleet{4}.run([](chorus::thread_transport& net) {
        std::vector<float> gradient(10000);
        train(net, gradient, 20);
    });
}
