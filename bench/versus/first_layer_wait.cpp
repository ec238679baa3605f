// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/chorus.hpp"
#include "chorus/overlap/priority_all_reduce.hpp"
#include "chorus/transport/rendezvous_tcp.hpp"
#include "chorus/transport/ucx.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <vector>

// How long the forward pass waits for its first layer after the backward pass has ended, and how long a step takes: layers whole as they become ready, in slices as
// they become ready, and in slices by priority. The computation is an accelerator's: the host sleeps and advances. Arguments: layers, elements of each, milliseconds
// per layer and pass, window, repetitions. Started once per host:
//
//     tests/net/cluster run --hosts 4 --rate 1gbit -- PROGRAM
namespace {

using clock = std::chrono::steady_clock;

double since(clock::time_point begin) { return std::chrono::duration<double, std::milli>(clock::now() - begin).count(); }

struct times {
    double first_wait = 0;
    double step = 0;
};

template <class Advance>
void compute(double milliseconds, Advance const& advance) {
    for (auto const begin = clock::now(); since(begin) < milliseconds;) {
        advance();
        std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
}

/// number_of: what a layer is called in the reducer; priorities follow the names.
template <class Name>
times run_step(chorus::priority_all_reduce& reduce, double milliseconds, Name const& number_of) {
    times took;
    auto const begin = clock::now();
    auto const advance = [&] { reduce.advance(); };
    for (std::size_t layer = reduce.layers(); layer-- > 0;) {
        compute(milliseconds, advance);
        reduce.ready(number_of(layer));
    }
    auto const end_of_backward = clock::now();
    for (std::size_t layer = 0; layer < reduce.layers(); ++layer) {
        reduce.wait_for(number_of(layer));
        if (layer == 0) took.first_wait = since(end_of_backward);
        compute(milliseconds, advance);
    }
    took.step = since(begin);
    return took;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
    auto const argument = [&](int at, char const* otherwise) { return std::string{argc > at ? argv[at] : otherwise}; };
    std::size_t const layers = std::stoul(argument(1, "10"));
    std::size_t const count = std::stoul(argument(2, "400000"));
    double const milliseconds = std::stod(argument(3, "8"));
    std::size_t const window = std::stoul(argument(4, "2"));
    int const repetitions = std::stoi(argument(5, "7"));

    auto meet = chorus::tcp_rendezvous::from_environment();
    chorus::ucx_transport net{meet};
    auto const world = chorus::group{net}.within(std::chrono::seconds{60});
    std::vector<float> memory(layers * count);
    std::vector<std::span<float>> forward, backward;
    for (std::size_t l = 0; l < layers; ++l) forward.push_back(std::span{memory}.subspan(l * count, count));
    backward.assign(forward.rbegin(), forward.rend());

    auto const same = [](std::size_t layer) { return layer; };
    auto const mirrored = [&](std::size_t layer) { return layers - 1 - layer; };
    chorus::priority_all_reduce whole{world, backward, chorus::sum{}, chorus::ring{}, {.slice = count, .window = window}};
    chorus::priority_all_reduce in_turn{world, backward, chorus::sum{}, chorus::ring{}, {.window = window}};
    chorus::priority_all_reduce by_priority{world, forward, chorus::sum{}, chorus::ring{}, {.window = window}};

    std::vector<double> waits[3], steps[3];
    for (int i = -1; i < repetitions; ++i)
        for (int kind = 0; kind < 3; ++kind) {
            std::fill(memory.begin(), memory.end(), 1.0f);
            chorus::barrier(world);
            times const took = kind == 0 ? run_step(whole, milliseconds, mirrored) : kind == 1 ? run_step(in_turn, milliseconds, mirrored) : run_step(by_priority, milliseconds, same);
            if (std::any_of(memory.begin(), memory.end(), [&](float x) { return x != static_cast<float>(net.size()); })) return std::puts("wrong sum"), 1;
            if (i >= 0) waits[kind].push_back(took.first_wait), steps[kind].push_back(took.step);
        }
    if (net.rank() != 0) return 0;
    char const* const names[] = {"whole layers as ready", "slices as ready", "slices by priority"};
    std::printf("%u hosts, %zu layers of %zu float, %.1f ms per layer and pass, window %zu; medians of %d\n", net.size(), layers, count, milliseconds, window, repetitions);
    for (int kind = 0; kind < 3; ++kind) std::printf("%-22s first layer's wait %8.2f ms   step %8.2f ms\n", names[kind], median(waits[kind]), median(steps[kind]));
    return 0;
}
