// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/chorus.hpp"
#include "chorus/transport/rendezvous_tcp.hpp"
#include "chorus/transport/ucx.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

// All-reduce of float by a ring over UCX beside its lower bound, 2(p-1)/p · bytes / rate of a host's cable. Arguments: bytes, bits per second,
// segments (0: as the ring has it), repetitions. Started once per host:
//
//     tests/net/cluster run --hosts 4 --rate 1gbit -- PROGRAM 16777216 1e9
int main(int argc, char** argv) {
    auto const argument = [&](int at, char const* otherwise) { return std::string{argc > at ? argv[at] : otherwise}; };
    std::size_t const bytes = std::stoul(argument(1, "16777216"));
    double const rate = std::stod(argument(2, "1e9"));
    auto const segments = static_cast<std::uint32_t>(std::stoul(argument(3, "2")));
    int const repetitions = std::stoi(argument(4, "9"));

    auto meet = chorus::tcp_rendezvous::from_environment();
    chorus::ucx_transport net{meet};
    auto const world = chorus::group{net}.within(std::chrono::seconds{60});
    std::vector<float> gradient(bytes / sizeof(float), 1.0f);
    chorus::any_algorithm const ring = segments == 0 ? chorus::any_algorithm{chorus::ring{}} : chorus::any_algorithm{chorus::ring{.segments = segments}};
    auto sum = chorus::plan_all_reduce(world, std::span{gradient}, chorus::sum{}, ring);

    std::vector<double> seconds;
    for (int i = -1; i < repetitions; ++i) {
        std::fill(gradient.begin(), gradient.end(), 1.0f);
        chorus::barrier(world);
        auto const begin = std::chrono::steady_clock::now();
        sum.start();
        sum.wait();
        chorus::barrier(world);
        double const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        if (i >= 0) seconds.push_back(took);
        auto const expected = static_cast<float>(net.size());
        if (gradient.front() != expected || gradient.back() != expected) return std::puts("wrong sum"), 1;
    }
    if (net.rank() != 0) return 0;
    std::sort(seconds.begin(), seconds.end());
    double const bound = 2.0 * (net.size() - 1) / net.size() * static_cast<double>(bytes) * 8 / rate;
    double const median = seconds[seconds.size() / 2];
    std::printf("%s\n%s\n%zu bytes on %u hosts: %.2f ms (fastest %.2f), bound %.2f ms, ratio %.3f\n", net.describe().c_str(),
                sum.describe().c_str(), bytes, net.size(), median * 1e3, seconds.front() * 1e3, bound * 1e3, median / bound);
    return 0;
}
