// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Gradients travel as 1 % of their elements, the rest waits in residuals: by any algorithm all ranks end with the same bits, and in the long run
// nothing is lost.

#include <chorus/chorus.hpp>
#include <chorus/compress/error_feedback.hpp>
#include <chorus/compress/top_k.hpp>
#include <chorus/transport/thread.hpp>

#include <iostream>
#include <span>
#include <stdexcept>
#include <vector>

// [train]
/// The gradient's first element, added up over the steps as it arrived.
double train(chorus::transport auto& net, std::span<float> gradient, int steps) {
    chorus::group world{net};
    chorus::compression how{chorus::error_feedback{chorus::top_k{0.01}}};
    auto sum = chorus::plan_all_reduce(world, gradient, chorus::sum{}, chorus::ring{}, {.carried_by = how});

    double arrived = 0;
    for (int step = 0; step < steps; ++step) {
        for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = 1.0F / static_cast<float>(i + 1);  // stands for the backward pass
        sum.run();
        arrived += static_cast<double>(gradient[0]);
    }
    if (world.rank() == 0) std::cout << sum.describe() << '\n';
    return arrived;
}
// […]

int main() {
    chorus::thread_fleet{4}.run([](chorus::thread_transport& net) {
        constexpr int steps = 200;
        std::vector<float> gradient(10000);
        double const expected = steps * static_cast<double>(net.size());
        double const arrived = train(net, gradient, steps);
        if (arrived < 0.95 * expected || arrived > 1.05 * expected) throw std::runtime_error{"the largest element did not arrive"};
    });
}
