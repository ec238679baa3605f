// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Eight ranks in one process, one thread each: no launcher, nothing to configure.

// [program]
#include <chorus/chorus.hpp>
#include <chorus/transport/thread.hpp>

#include <stdexcept>
#include <vector>

int main() {
    chorus::thread_fleet fleet{8};
    fleet.run([](chorus::thread_transport& net) {
        chorus::group world{net};

        std::vector<double> v(1000, world.rank());       // rank 0 has zeros, rank 1 ones, …
        chorus::all_reduce(world, v, chorus::sum{});     // afterwards every rank has 0 + 1 + … + 7

        for (double x : v)
            if (x != 28) throw std::runtime_error{"the sum is wrong"};
    });
}
// […]
