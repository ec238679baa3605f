// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Progress is a call: there is no hidden thread, so work and communication take turns as the program says.

#include <chorus/chorus.hpp>
#include <chorus/transport/thread.hpp>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <vector>

// [overlap]
template <class Work>
bool overlap(chorus::plan& reduce, Work const& work_a_little) {
    reduce.start();
    while (reduce.advance() != chorus::progress::done)   // never blocks
        if (!work_a_little()) break;                     // nothing left to do but wait
    return reduce.wait_for(std::chrono::seconds{5});     // false: still under way, nothing lost
}
// […]

int main() {
    chorus::thread_fleet{4}.run([](chorus::thread_transport& net) {
        chorus::group world{net};
        std::vector<std::int64_t> v(100000, world.rank() + 1);
        auto reduce = chorus::plan_all_reduce(world, v, chorus::maximum{});

        int left = 1000;
        if (!overlap(reduce, [&] { return --left > 0; })) reduce.wait();

        for (std::int64_t x : v)
            if (x != 4) throw std::runtime_error{"the maximum is wrong"};
    });
}
