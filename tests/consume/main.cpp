// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <chorus/chorus.hpp>
#include <chorus/transport/thread.hpp>

#include <atomic>
#include <span>
#include <vector>

int main() {
    std::atomic<int> right{0};
    chorus::thread_fleet{3}.run([&](chorus::thread_transport& net) {
        chorus::group world{net};
        std::vector<int> v(5, 7);
        chorus::all_reduce(world, std::span{v}, chorus::sum{});
        if (v == std::vector<int>(5, 21)) ++right;
    });
    return right == 3 ? 0 : 1;
}
