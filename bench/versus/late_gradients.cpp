// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/chorus.hpp"
#include "chorus/overlap/progress_thread.hpp"
#include "chorus/sync/every_step.hpp"
#include "chorus/sync/stale_gradient.hpp"
#include "chorus/sync/synchroniser.hpp"
#include "chorus/transport/rendezvous_tcp.hpp"
#include "chorus/transport/ucx.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <thread>
#include <vector>

// A step of Pipe-SGD against max(compute, communicate): gradients averaged at once, and one or two steps late, while a progress thread moves them. Computing is an accelerator's: the
// processor waits for it, so that eight hosts fit on two cores. Arguments: elements, steps, algorithm. Started once per host:
//
//     tests/net/cluster run --hosts 8 --racks 500mbit -- build/release/bench/versus/versus_late_gradients 2333706 20
//
// Fails if a step, two steps late, takes more than 1.1 times the longer of the two. One step late there is nothing to absorb steps of unequal length, where both are equally long.

using milliseconds = std::chrono::duration<double, std::milli>;

namespace {

/// Milliseconds a step, mean over the steps, of the slowest rank.
double step_time(auto& net, std::size_t count, int steps, milliseconds compute, chorus::step_id delay, chorus::any_algorithm const& algorithm) {
    auto const world = chorus::group{net}.within(std::chrono::seconds{60});
    std::vector<float> gradient(count, 1.0f);
    chorus::synchroniser_options const options{.delay = delay, .algorithm = algorithm};
    chorus::synchroniser sync{world, std::vector{std::span{gradient}}, chorus::every_step{}, chorus::uncompressed{}, chorus::stale_gradient{}, options};
    chorus::progress_thread helper;
    auto began = std::chrono::steady_clock::now();
    for (int step = -3; step < steps; ++step) {
        if (step == 0) began = std::chrono::steady_clock::now();
        {
            auto const meanwhile = helper.drive(sync);
            std::this_thread::sleep_for(compute);
        }
        sync.step();
    }
    double taken = milliseconds{std::chrono::steady_clock::now() - began}.count() / steps;
    sync.drain();
    chorus::all_reduce(world, std::span{&taken, 1}, chorus::maximum{});
    return taken;
}

}  // namespace

int main(int argc, char** argv) {
    auto const count = static_cast<std::size_t>(argc > 1 ? std::atol(argv[1]) : 2333706);
    int const steps = argc > 2 ? std::atoi(argv[2]) : 20;
    auto const algorithm = chorus::algorithm_named(argc > 3 ? argv[3] : "hierarchical(inside=ring, between=ring, width=4)");
    auto meet = chorus::tcp_rendezvous::from_environment();
    chorus::ucx_transport net{meet};
    double const communicate = step_time(net, count, steps, milliseconds{0}, 0, algorithm);
    bool const speaks = net.rank() == 0;
    if (speaks) std::printf("%zu floats over %u ranks: %.1f ms to communicate\n\n| compute | at once | one step late | of the longer | two steps late | of the longer |\n| ---: | ---: | ---: | ---: | ---: | ---: |\n", count, net.size(), communicate);
    double worst = 0;
    for (double const share : {0.5, 1.0, 2.0}) {
        milliseconds const compute{share * communicate};
        double times[3];
        for (chorus::step_id delay = 0; delay < 3; ++delay) times[delay] = step_time(net, count, steps, compute, delay, algorithm);
        double const longer = (std::max)(communicate, compute.count());
        if (speaks)
            std::printf("| %.1f ms | %.1f ms | %.1f ms | %.2f | %.1f ms | %.2f |\n", compute.count(), times[0], times[1], times[1] / longer, times[2], times[2] / longer);
        std::fflush(stdout);
        worst = (std::max)(worst, times[2] / longer);
    }
    return worst <= 1.1 ? 0 : 1;
}
