// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Algorithms are values: chosen by type, nested, by name at run time, or left to `automatic`. Their cost can be asked without
// any ranks.

#include <chorus/chorus.hpp>
#include <chorus/transport/thread.hpp>

#include <iostream>
#include <stdexcept>
#include <string_view>
#include <vector>

// [choose]
void sum_by(chorus::transport auto& net, std::vector<int>& v, std::string_view from_command_line) {
    chorus::group world{net};
    chorus::sum const sum;

    auto fixed = chorus::plan_all_reduce(world, v, sum, chorus::rabenseifner{});
    auto nested = chorus::plan_all_reduce(world, v, sum,
                                          chorus::hierarchical{chorus::all_pairs{}, chorus::ring{}, /*width=*/4});
    auto named = chorus::plan_all_reduce(world, v, sum, chorus::algorithm_named(from_command_line));
    auto chosen = chorus::plan_all_reduce(world, v, sum);  // by expected time, for these ranks and this size

    for (chorus::plan* each : {&fixed, &nested, &named, &chosen}) {
        each->run();
        if (world.rank() == 0) std::cout << each->describe() << '\n';
    }
}
// […]

int main() {
    chorus::thread_fleet{8}.run([](chorus::thread_transport& net) {
        std::vector<int> v(100, 1);
        sum_by(net, v, "ring(segments=2)");
        for (int x : v)
            if (x != 8 * 8 * 8 * 8) throw std::runtime_error{"the sums are wrong"};
    });

    auto const any = chorus::algorithm_named("recursive_doubling");
    auto const cost = any.cost_of(chorus::collective::all_reduce, 1024, 4096.0);
    if (cost.rounds != 10) throw std::runtime_error{"1024 ranks need ten rounds"};

    try {
        chorus::algorithm_named("rign");
        throw std::runtime_error{"an unknown name was taken"};
    } catch (chorus::error const& e) {
        std::cout << e.what() << '\n';  // says which names there are
    }
}
