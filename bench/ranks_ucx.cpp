// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// In the engine where UCX was found, instead of ranks_without_ucx.cpp.

#include "endpoint_on.hpp"
#include "ranks.hpp"

#include <chorus/transport/rendezvous_tcp.hpp>
#include <chorus/transport/ucx.hpp>

#include <atomic>

namespace bench {

bool has_ucx() { return true; }

int run_on_ucx(start const& asked, rank_program const& program) {
    auto const run_rank = [&](chorus::ucx_transport& net) {
        endpoint_on<chorus::ucx_transport> mine{net, asked.limit(), net.describe()};
        mine.find_out_about_clocks();
        return program(mine);
    };
    if (asked.ranks == 0) {
        auto meet = chorus::tcp_rendezvous::from_environment();
        chorus::ucx_transport net{meet};
        return run_rank(net);
    }
    std::atomic<int> code{0};
    chorus::ucx_fleet{asked.ranks}.run([&](chorus::ucx_transport& net) {
        int const ended = run_rank(net);
        if (net.rank() == 0) code = ended;
    });
    return code;
}

}  // namespace bench
