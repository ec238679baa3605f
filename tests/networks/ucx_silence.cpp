// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/chorus.hpp"
#include "chorus/transport/rendezvous_tcp.hpp"
#include "chorus/transport/ucx.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

// One rank per host of tests/net/cluster. The cable of host 1 is cut in the middle of many all-reduces, with much or little on its way; long before
// the deadline every rank is told that a peer is lost, by its own kernel: no library says so.
int main(int argc, char** argv) {
    bool const is_much = argc > 1 && std::string_view{argv[1]} == "much";
    auto meet = chorus::tcp_rendezvous::from_environment();
    chorus::ucx_transport net{meet, {.silence = std::chrono::seconds{3}}};
    auto const world = chorus::group{net}.within(std::chrono::seconds{60});
    std::vector<float> v(is_much ? 1u << 20 : 1u);
    auto begin = std::chrono::steady_clock::now();
    try {
        for (int turn = 0; turn < 100'000; ++turn) {
            if (turn == 20 && net.rank() == 1) {
                std::puts("@fault link 1 down");
                std::fflush(stdout);
                if (!is_much) std::this_thread::sleep_for(std::chrono::seconds{2});
            }
            begin = std::chrono::steady_clock::now();
            chorus::all_reduce(world, std::span{v}, chorus::sum{}, chorus::ring{});
        }
    } catch (chorus::error const& why) {
        double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        bool const is_right = why.code() == chorus::errc::peer_lost && seconds < 20;
        std::printf("rank %u %s after %.1f s: %s\n", net.rank(), is_right ? "is told" : "FAILS", seconds, why.what());
        std::fflush(stdout);
        return is_right ? 0 : 1;
    }
    std::printf("rank %u FAILS: nothing was noticed\n", net.rank());
    return 1;
}
