// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/rendezvous.hpp"
#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/nccl_control.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <cuda_runtime.h>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace cuda_on_cpu {

inline void require(bool holds, std::string const& what) {
    if (!holds) throw std::runtime_error{what};
}

/// law(meet) on each of `ranks` threads, by turns on two devices; ends with nothing left behind and nothing gone wrong.
template <class Law> void on_nccl_ranks(std::uint64_t seed, chorus::rank_id ranks, Law const& law) {
    begin(seed);
    auto meets = chorus::thread_rendezvous::of(ranks, std::chrono::seconds{20});
    std::vector<std::string> wrong(ranks);
    std::vector<std::thread> threads;
    for (chorus::rank_id r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] {
            chorus::thread_rendezvous meet = std::move(meets[r]);
            try {
                require(cudaSetDevice(static_cast<int>(r % 2)) == cudaSuccess, "cudaSetDevice");
                law(meet);
            } catch (std::exception const& thrown) {
                wrong[r] = thrown.what();
            }
        });
    for (std::thread& each : threads) each.join();
    for (chorus::rank_id r = 0; r < ranks; ++r) CHECK_MESSAGE(wrong[r].empty(), "rank ", r, " of ", ranks, ": ", wrong[r]);
    CHECK(failure() == "");
    CHECK(open_communicators() == 0);
}

}  // namespace cuda_on_cpu
