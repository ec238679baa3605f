// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/chorus.hpp"
#include "chorus/overlap/progress_thread.hpp"
#include "chorus/transport/rendezvous_tcp.hpp"
#include "chorus/transport/shared_memory.hpp"
#include "chorus/transport/ucx.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <ctime>
#include <optional>
#include <span>
#include <string>
#include <vector>

// How much of an all-reduce is hidden behind a computation of equal length, which is a fixed amount of work, not a fixed time: 100 - 100 (overall - compute) / pure, where
// compute is what that work takes alone. So processor time that communication takes from the computation is not hidden. Beside it: the processor time of the
// pure all-reduce, which cannot be hidden where no core is free. Arguments: bytes, repetitions. Started once per host, or with "shm" as third for two processes here:
//
//     tests/net/cluster run --hosts 2 --rate 1gbit -- PROGRAM 4194304
namespace {

double wall() { return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
double processor() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

double volatile sink = 1;
void work(std::size_t passes) {
    double x = sink;
    for (std::size_t i = 0; i < passes; ++i) x = x * 0.999 + 0.001;
    sink = x;
}

/// The computation in 200 parts, with `between` after each.
template <class Between>
double overlapped(chorus::plan& sum, std::size_t passes, Between const& between) {
    double const begin = wall();
    sum.start();
    for (int part = 0; part < 200; ++part) {
        work(passes / 200);
        between();
    }
    sum.wait();
    return wall() - begin;
}

template <chorus::transport Transport>
void measure(Transport& net, std::size_t bytes, int repetitions) {
    auto const world = chorus::group{net}.within(std::chrono::seconds{60});
    std::vector<float> v(bytes / sizeof(float), 1.0f);
    auto sum = chorus::plan_all_reduce(world, std::span{v}, chorus::sum{});
    std::vector<double> pure, busy, alone, times[3];
    for (int i = -2; i < repetitions; ++i) {
        chorus::barrier(world);
        double const begin = wall(), begin_busy = processor();
        sum.run();
        if (i >= 0) pure.push_back(wall() - begin), busy.push_back(processor() - begin_busy);
    }
    chorus::all_reduce(world, std::span{&pure.emplace_back(median(pure)), 1}, chorus::maximum{});
    double const target = pure.back();
    std::size_t passes = 1'000'000;
    for (int again = 0; again < 3; ++again) {
        double const begin = wall();
        work(passes);
        passes = static_cast<std::size_t>(static_cast<double>(passes) * target / (wall() - begin));
    }
    chorus::progress_thread helper;
    for (int i = -2; i < repetitions; ++i)
        for (int kind = 0; kind < 4; ++kind) {
            chorus::barrier(world);
            double const begin = wall();
            double took = 0;
            if (kind == 3) {
                work(passes);
                took = wall() - begin;
            } else if (kind == 2) {
                std::optional<chorus::progress_thread::lease> driven;
                sum.start();
                driven.emplace(helper.drive(sum));
                work(passes);
                driven.reset();
                sum.wait();
                took = wall() - begin;
            } else {
                took = overlapped(sum, passes, [&] { if (kind == 1) sum.advance(); });
            }
            if (i >= 0) (kind == 3 ? alone : times[kind]).push_back(took);
        }
    if (net.rank() != 0) return;
    double const compute = median(alone);
    std::printf("%zu bytes between %u: pure %.2f ms, of which %.2f ms on the processor; computation %.2f ms\n", bytes, net.size(), target, median(busy), compute);
    char const* const names[] = {"start, compute, wait", "advance at 200 places", "progress thread"};
    for (int kind = 0; kind < 3; ++kind)
        std::printf("%-22s overall %8.2f ms, hidden %5.1f %%\n", names[kind], median(times[kind]), std::clamp(100 - 100 * (median(times[kind]) - compute) / target, 0.0, 100.0));
}

}  // namespace

int main(int argc, char** argv) {
    std::size_t const bytes = argc > 1 ? std::stoul(argv[1]) : 4194304;
    int const repetitions = argc > 2 ? std::stoi(argv[2]) : 15;
    if (argc > 3) {
        chorus::process_fleet{2}.run([&](auto& net) { measure(net, bytes, repetitions); });
        return 0;
    }
    auto meet = chorus::tcp_rendezvous::from_environment();
    chorus::ucx_transport net{meet};
    measure(net, bytes, repetitions);
    return 0;
}
