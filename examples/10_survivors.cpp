// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// A rank is killed in the middle of training; the others notice, agree on who is left, and go on.

#include <chorus/chorus.hpp>
#include <chorus/transport/shared_memory.hpp>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <stdexcept>
#include <vector>

// [train]
/// Adds up `steps` times over whoever is alive; the last step's sum.
std::uint32_t train(chorus::recovering_transport auto& net, int steps) {
    auto world = chorus::group{net}.within(std::chrono::seconds{10});
    std::vector<std::uint32_t> gradient;
    for (int step = 0; step < steps;) {
        gradient.assign(1000, 1);
        if (step == 5 && net.rank() == 1) ::raise(SIGKILL);
        try {
            chorus::all_reduce(world, gradient, chorus::sum{});
            ++step;
        } catch (chorus::error const& failure) {
            if (failure.code() != chorus::errc::peer_lost) throw;
            world = chorus::shrink(world);  // the survivors, in the same order
            std::vector<int> first_undone{step};  // some may have come one step further than others
            chorus::all_reduce(world, first_undone, chorus::minimum{});
            step = first_undone[0];
            if (world.rank() == 0) std::cout << failure.what() << "\ngoing on with " << world.size() << '\n';
        }
    }
    return gradient[0];
}
// […]

int main() {
    bool was_killed = false;
    try {
        chorus::process_fleet{4}.run([](chorus::shared_memory_transport& net) {
            if (train(net, 20) != 3) throw std::runtime_error{"the sum is not that of three ranks"};
        });
    } catch (chorus::error const& failure) {
        was_killed = failure.code() == chorus::errc::peer_lost && failure.peer() == 1;
        if (!was_killed) throw;
    }
    if (!was_killed) throw std::runtime_error{"the fleet does not say that rank 1 was killed"};
}
