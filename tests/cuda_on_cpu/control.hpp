// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// How tests drive the stand-in.
namespace cuda_on_cpu {

/// What machine it is. `driver` 0: none is installed.
struct machine {
    int devices = 2;
    int driver = 13000;
    int runtime = 13000;
    std::size_t memory = std::size_t{1} << 30;  ///< of each device, bytes
    bool has_peer_access = true;

    friend bool operator==(machine const&, machine const&) = default;
};

/// Begins anew: waits for all work, forgets failures and counts, and draws everything from now on from `seed`. Memory, streams and events
/// stay. At the start of a program the seed is 0.
void begin(std::uint64_t seed, machine const& having = {});

/// What went wrong inside a kernel or a call since `begin`, in words; empty: nothing. The first one stays.
std::string failure();

/// Bytes that kernels moved by load and store of chorus/cuda/global_memory.cuh, and by atomics (as written), since `begin`.
struct moved_bytes {
    std::uint64_t read = 0;
    std::uint64_t written = 0;
    std::uint64_t kernels = 0;
};
moved_bytes moved();

/// Memory that was allocated and not freed, bytes on all devices and pinned.
std::size_t allocated();

/// Work that was enqueued and not done.
std::size_t pending();

}  // namespace cuda_on_cpu
