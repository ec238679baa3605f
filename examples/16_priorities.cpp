// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Gradients become ready from the last layer to the first and are needed from the first to the last: they are reduced in slices, the first layer's
// before what is left of the others, while a thread of the caller's keeps them going.

#include <chorus/chorus.hpp>
#include <chorus/overlap/priority_all_reduce.hpp>
#include <chorus/overlap/progress_thread.hpp>
#include <chorus/transport/thread.hpp>

#include <cstddef>
#include <iostream>
#include <span>
#include <stdexcept>
#include <vector>

// [train]
void train(chorus::transport auto& net, std::vector<std::span<float>> const& gradients, int steps) {
    chorus::group world{net};
    chorus::priority_all_reduce reduce{world, gradients, chorus::sum{}, chorus::direct{}, {.slice = 1000}};
    chorus::progress_thread helper;

    for (int step = 1; step <= steps; ++step) {
        auto driven = helper.drive(reduce);  // from here on the thread uses the transport
        for (std::size_t layer = gradients.size(); layer-- > 0;) {
            for (float& g : gradients[layer]) g = static_cast<float>(step);  // stands for the backward pass
            auto const mine = helper.pause();
            reduce.ready(layer);
        }
        driven.take_back();  // and from here on this thread
        for (std::size_t layer = 0; layer < gradients.size(); ++layer) {
            reduce.wait_for(layer);  // stands before the update and the forward pass of this layer
            if (gradients[layer].back() != static_cast<float>(step) * static_cast<float>(world.size())) throw std::runtime_error{"wrong sum"};
        }
    }
    if (world.rank() == 0) std::cout << reduce.describe() << "\nranks agreed " << reduce.agreements() << " times\n";
}
// […]

int main() {
    chorus::thread_fleet{2}.run([](chorus::thread_transport& net) {
        std::vector<float> parameters(20'000);
        std::span<float> const all{parameters};
        train(net, {all.first(500), all.subspan(500, 6000), all.subspan(6500)}, 5);
    });
}
