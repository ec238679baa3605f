// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/chorus.hpp"
#include "chorus/compress/block_integer.hpp"
#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/transport/rendezvous_tcp.hpp"
#include "chorus/transport/ucx.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

// All-reduce of float by a ring over UCX, dense and compressed, in turns: how much faster, how many bytes, whether all ranks end with the same bits.
// Arguments: bytes, segments, repetitions. Started once per host:
//
//     tests/net/cluster run --hosts 4 --rate 1gbit -- PROGRAM 16777216

namespace {

using chorus::compression;
using clock_type = std::chrono::steady_clock;

struct way {
    std::string name;
    compression how;
    chorus::plan plan;
    std::vector<double> seconds;
};

/// Of every rank and run another one, with few large elements and many small ones, as gradients are.
void fill(std::span<float> gradient, std::uint64_t seed) {
    chorus::counter_random const random{seed};
    for (std::size_t i = 0; i < gradient.size(); ++i) {
        double const u = 2.0 * random.unit(i) - 1.0;
        gradient[i] = static_cast<float>(u * u * u * u * u);
    }
}

std::uint64_t digest(std::span<float const> values) {
    std::uint64_t sum = 0;
    for (float x : values) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &x, sizeof bits);
        sum = chorus::counter_random::mix(sum ^ bits);
    }
    return sum;
}

}  // namespace

int main(int argc, char** argv) {
    auto const argument = [&](int at, char const* otherwise) { return std::string{argc > at ? argv[at] : otherwise}; };
    std::size_t const count = std::stoul(argument(1, "16777216")) / sizeof(float);
    chorus::ring const ring{.segments = static_cast<chorus::rank_id>(std::stoul(argument(2, "2")))};
    int const repetitions = std::stoi(argument(3, "5"));

    auto meet = chorus::tcp_rendezvous::from_environment();
    chorus::ucx_transport net{meet};
    auto const world = chorus::group{net}.within(std::chrono::seconds{60});
    std::vector<float> gradient(count);
    std::vector<way> ways;
    auto const add = [&](std::string name, compression how) {
        auto plan = chorus::plan_all_reduce(world, gradient, chorus::sum{}, ring, {.carried_by = how});
        ways.push_back({std::move(name), how, std::move(plan), {}});
    };
    add("dense", {});
    add("half", compression{chorus::half_cast{}});
    add("8 bits", compression{chorus::block_integer{.bits = 8}});
    add("4 bits", compression{chorus::block_integer{.bits = 4}});
    add("top-k 1 %", compression{chorus::error_feedback{chorus::top_k{0.01}}});
    // The entries of each rank as they are, instead of those of sums at every hop.
    chorus::error_feedback gathered{chorus::top_k{0.01}}, merged{chorus::top_k{0.01}}, split{chorus::top_k{0.01}};
    auto const add_sparse = [&](std::string name, auto& select, chorus::sparse_exchange exchange) {
        ways.push_back({std::move(name), {}, chorus::plan_sparse_all_reduce(world, gradient, select, exchange), {}});
    };
    add_sparse("  gathered", gathered, chorus::sparse_exchange::gather);
    add_sparse("  merged", merged, chorus::sparse_exchange::merge);
    add_sparse("  split", split, chorus::sparse_exchange::split);

    for (int i = -1; i < repetitions; ++i)
        for (way& w : ways) {
            fill(gradient, net.rank() * 1000 + static_cast<std::uint64_t>(i + 1));
            chorus::barrier(world);
            auto const begin = clock_type::now();
            w.plan.run();
            chorus::barrier(world);
            double const took = std::chrono::duration<double>(clock_type::now() - begin).count();
            if (i >= 0) w.seconds.push_back(took);
            std::vector<std::uint64_t> least{digest(gradient)}, most{least};
            chorus::all_reduce(world, least, chorus::minimum{});
            chorus::all_reduce(world, most, chorus::maximum{});
            if (least != most) return std::printf("%s: ranks have different bits\n", w.name.c_str()), 1;
        }
    if (net.rank() != 0) return 0;
    auto const median = [](std::vector<double>& v) { return std::sort(v.begin(), v.end()), v[v.size() / 2]; };
    double const dense = median(ways.front().seconds);
    std::printf("%-12s %12s %12s %10s %12s\n", "carried", "ms", "times faster", "bytes", "of dense");
    for (way& w : ways)
        std::printf("%-12s %12.2f %12.2f %10llu %12.4f\n", w.name.c_str(), median(w.seconds) * 1e3, dense / median(w.seconds),
                    static_cast<unsigned long long>(w.plan.bytes_sent()),
                    static_cast<double>(w.plan.bytes_sent()) / static_cast<double>(ways.front().plan.bytes_sent()));
    return 0;
}
