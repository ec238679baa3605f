// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// When an operation is not complete in time, its error says who never came, who is behind, and who waits for whom.

#include <chorus/chorus.hpp>
#include <chorus/transport/thread.hpp>

#include <chrono>
#include <iostream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

// [step]
/// Rank 2 skips the gradients, and with them the others: the kind of mistake that makes a training run stand still.
void training_step(chorus::group<chorus::thread_transport> const& world, std::vector<float>& gradient) {
    chorus::barrier(world);
    if (world.rank() == 2) return;
    chorus::all_reduce(world, gradient, chorus::sum{});
}
// […]

void require(bool holds, std::string const& what) {
    if (!holds) throw std::runtime_error{what};
}

int main() {
    chorus::thread_fleet{4}.run([](chorus::thread_transport& net) {
        chorus::group const world = chorus::group{net}.within(std::chrono::seconds{1});
        std::vector<float> gradient(1000, 1.0f);
        try {
            training_step(world, gradient);
        } catch (chorus::error const& why) {
            std::string const text = why.what();
            if (net.rank() == 0) std::cout << text << std::endl;
            require(why.code() == chorus::errc::timed_out && why.peer() == 2, "another rank is blamed: " + text);
            require(text.find("rank 2: did not enter it (last: barrier #0") != std::string::npos, "it does not say what rank 2 did");
            require(world.counters().finished == 1 && world.counters().failed == 1, "not counted");
            return;
        }
        require(net.rank() == 2, "a rank did not notice that another one is missing");
        while (!net.is_aborted()) std::this_thread::sleep_for(std::chrono::milliseconds{1});  // goes on with something else
    });
}
