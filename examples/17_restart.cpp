// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <chorus/chorus.hpp>
#include <chorus/sync/streaming_fragments.hpp>
#include <chorus/transport/thread.hpp>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <span>
#include <vector>

// Streaming DiLoCo that is stopped in the middle of its exchanges and restarted from what was saved: it ends where training without a stop ends, to the bit.

namespace {

using weights = std::vector<float>;

auto streaming(chorus::group<chorus::thread_transport> const& world, weights& w) {
    return chorus::streaming_fragments{world, std::vector{std::span{w}}, chorus::every_step{}, {.fragments = 4, .period = 8}, chorus::uncompressed{}, chorus::outer_step{}, {.delay = 2}};
}

void train(auto& sync, weights& w, chorus::rank_id rank, int begin, int end) {
    for (int step = begin; step < end; ++step) {
        for (float& x : w) x -= 0.1f * (x - static_cast<float>(rank));  // the local update
        sync.step();                                                    // a quarter of the weights at every other step
    }
}

}  // namespace

int main() {
    std::atomic<int> wrong{0};
    chorus::thread_fleet{4}.run([&](chorus::thread_transport& net) {
        auto const world = chorus::group{net}.within(std::chrono::seconds{20});

        weights whole(1000);
        auto never_stopped = streaming(world, whole);
        train(never_stopped, whole, net.rank(), 0, 50);

        weights saved_weights(1000);
        std::vector<std::byte> saved_state;
        {
            auto sync = streaming(world, saved_weights);
            train(sync, saved_weights, net.rank(), 0, 26);
            saved_state = sync.save();  // an average is under way
        }
        weights restarted = saved_weights;
        auto sync = streaming(world, restarted);
        sync.restore(saved_state);
        train(sync, restarted, net.rank(), 26, 50);
        if (restarted != whole) ++wrong;

        sync.consensus();  // one model in the end
        weights least = restarted;
        chorus::all_reduce(world, least, chorus::minimum{});
        if (least != restarted) ++wrong;
        if (net.rank() == 0)
            std::printf("%zu bytes of state on each rank beside 4000 of weights; all end at %.3f, the mean of the targets is 1.5\n", saved_state.size(), static_cast<double>(restarted[0]));
    });
    return wrong;
}
