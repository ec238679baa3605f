// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Four processes of one host over shared memory. The calls are the same as between threads.

#include <chorus/chorus.hpp>
#include <chorus/transport/shared_memory.hpp>

#include <cstdint>
#include <stdexcept>
#include <vector>

// [program]
int main() {
    chorus::process_fleet fleet{4};
    fleet.run([](chorus::shared_memory_transport& net) {
        chorus::group world{net};

        std::vector<std::uint32_t> mine{world.rank(), 10 * world.rank()};
        std::vector<std::uint32_t> everybodys(2 * world.size());
        chorus::all_gather(world, mine, everybodys);

        std::vector<std::uint32_t> const expected{0, 0, 1, 10, 2, 20, 3, 30};
        if (everybodys != expected) throw std::runtime_error{"not what the ranks had"};
    });
}
// […]
