// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// What the engine costs per step. Both ranks of a thread transport are driven by one thread, so that no cache line travels between cores and
// nothing waits: what remains is the work of `start`, of posting, polling and combining. An item is one step (a send, or a receive) of one rank;
// compare with the same messages without an engine.

#include "chorus/collective/all_reduce.hpp"
#include "chorus/transport/thread.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace {

struct pair_of_ranks {
    std::shared_ptr<chorus::detail::thread_world> world = std::make_shared<chorus::detail::thread_world>(2);
    chorus::thread_transport zero{world, 0};
    chorus::thread_transport one{world, 1};
};

/// Messages alone: per iteration each rank sends and receives once per round.
void messages(benchmark::State& state) {
    pair_of_ranks ranks;
    auto const rounds = static_cast<int>(state.range(0));
    std::array<std::byte, 4> out{};
    std::array<std::byte, 4> in{};
    for (auto _ : state) {
        for (int r = 0; r < rounds; ++r) {
            (void)ranks.zero.post_send(1, {1, 0}, out);
            (void)ranks.one.post_send(0, {1, 0}, out);
            auto at_zero = ranks.zero.post_recv(1, {1, 0}, in);
            auto at_one = ranks.one.post_recv(0, {1, 0}, in);
            while (ranks.zero.poll(at_zero) != chorus::progress::done) {}
            while (ranks.one.poll(at_one) != chorus::progress::done) {}
        }
    }
    state.SetItemsProcessed(state.iterations() * rounds * 4);
}
BENCHMARK(messages)->Arg(1)->Arg(2)->Arg(16);

/// The same number of messages as all-reduces: recursive doubling has one round, a segmented ring 2 * segments.
template <class Algorithm>
void plans(benchmark::State& state, Algorithm const& algorithm) {
    pair_of_ranks ranks;
    chorus::group<chorus::thread_transport> const zero{ranks.zero};
    chorus::group<chorus::thread_transport> const one{ranks.one};
    std::vector<float> a(static_cast<std::size_t>(state.range(0)), 1.0f);
    std::vector<float> b = a;
    std::vector<float> sum(a.size());
    std::vector<float> other(a.size());
    auto at_zero = chorus::plan_all_reduce(zero, a, sum, chorus::sum{}, algorithm);
    auto at_one = chorus::plan_all_reduce(one, b, other, chorus::sum{}, algorithm);
    for (auto _ : state) {
        at_zero.start();
        at_one.start();
        bool done = false;
        while (!done) {
            bool const zero_done = at_zero.advance() == chorus::progress::done;
            bool const one_done = at_one.advance() == chorus::progress::done;
            done = zero_done && one_done;
        }
    }
    auto const steps = static_cast<std::int64_t>(algorithm.all_reduce(0, 2).steps().size());
    state.SetItemsProcessed(state.iterations() * steps * 2);
}
BENCHMARK_CAPTURE(plans, recursive_doubling, chorus::recursive_doubling{})->Arg(1);
BENCHMARK_CAPTURE(plans, ring, chorus::ring{})->Arg(2);
BENCHMARK_CAPTURE(plans, ring_of_8_segments, chorus::ring{.segments = 8})->Arg(16);

}  // namespace

BENCHMARK_MAIN();
