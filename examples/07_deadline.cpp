// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Nobody waits for ever unless told to: an operation has a time limit, and its failure has a reason and names a rank.

#include <chorus/chorus.hpp>
#include <chorus/transport/thread.hpp>

#include <atomic>
#include <chrono>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

// [deadline]
/// Whether the sum came in time. Afterwards v is unspecified and the group cannot be used any more if it did not.
bool sum_within(chorus::transport auto& net, std::vector<float>& v, chorus::time_limit limit) {
    chorus::group world{net};
    try {
        chorus::all_reduce(world, v, chorus::sum{}, chorus::automatic{}, {.deadline = limit});
        return true;
    } catch (chorus::error const& e) {
        std::cout << "rank " << world.rank() << ": " << e.what() << std::endl;
        return false;
    }
}
// […]

int main() {
    std::atomic<int> in_time{0};
    std::atomic<int> late{0};
    chorus::thread_fleet{3}.run([&](chorus::thread_transport& net) {
        std::vector<float> v(100, 1.0f);
        if (net.rank() == 2) {  // is there, but busy with something else
            while (in_time + late < 2) std::this_thread::sleep_for(std::chrono::milliseconds{1});
            return;
        }
        ++(sum_within(net, v, std::chrono::milliseconds{200}) ? in_time : late);
    });
    if (in_time != 0 || late != 2) throw std::runtime_error{"a rank did not notice that another one is missing"};
}
