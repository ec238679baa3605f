// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <chorus/chorus.hpp>
#include <chorus/sync/synchroniser.hpp>
#include <chorus/transport/thread.hpp>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

// Eight ranks move towards different targets and average their weights after every step, in small groups that change from step to step. No group ever holds
// all ranks, and yet all of them come to the mean of the targets.

int main() {
    constexpr chorus::rank_id ranks = 8;
    std::atomic<int> wrong{0};
    chorus::thread_fleet{ranks}.run([&](chorus::thread_transport& net) {
        auto const world = chorus::group{net}.within(std::chrono::seconds{20});
        std::vector<float> weights(1000, 0.0f);
        float const target = static_cast<float>(net.rank());

        chorus::synchroniser sync{world, std::vector{std::span{weights}}, chorus::divide_and_shuffle{.groups = 4, .seed = 7}};
        for (int step = 0; step < 200; ++step) {
            float const rate = 0.2f / static_cast<float>(1 + step / 10);
            for (float& w : weights) w -= rate * (w - target);  // the local update
            sync.step();                                        // the mean over this step's group
        }

        float const mean = (ranks - 1) / 2.0f;
        if (std::abs(weights[0] - mean) > 0.1f) ++wrong;
        if (net.rank() == 0)
            std::printf("%.3f, and the mean of all targets is %.1f; %zu groups of %u ranks, %llu bytes sent\n", static_cast<double>(weights[0]), static_cast<double>(mean),
                        sync.totals().groups, sync.report().members, static_cast<unsigned long long>(sync.totals().bytes_sent));
    });
    return wrong;
}
