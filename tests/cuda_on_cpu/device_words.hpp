// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "cuda_on_cpu/runtime_api.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

// The words of CUDA C++ in kernels: which thread this is, barriers, and what the 32 threads of a warp do together.

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)

/// Of the running thread; set anew whenever it goes on.
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;
inline constexpr int warpSize = 32;

namespace cuda_on_cpu {

/// What threads of a warp do together. All threads of one mask must do the same.
enum class warp_operation : std::uint8_t { sync, ballot, any, all, shuffle, shuffle_up, shuffle_down, shuffle_xor, match_any };
enum class block_operation : std::uint8_t { sync, count, all, any };

void* shared_memory();
int block_together(block_operation what, int value);
std::uint64_t warp_together(warp_operation what, unsigned mask, std::uint64_t value, unsigned argument, int width);
unsigned active_lanes();

/// A point where the seed may let other threads go first; `is_waiting`: it does.
void switch_point(bool is_waiting);

template <class T>
T shuffled(warp_operation what, unsigned mask, T value, unsigned argument, int width) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    word = warp_together(what, mask, word, argument, width);
    std::memcpy(&value, &word, sizeof value);
    return value;
}

}  // namespace cuda_on_cpu

inline void __syncthreads() { cuda_on_cpu::block_together(cuda_on_cpu::block_operation::sync, 0); }
inline int __syncthreads_count(int value) { return cuda_on_cpu::block_together(cuda_on_cpu::block_operation::count, value); }
inline int __syncthreads_and(int value) { return cuda_on_cpu::block_together(cuda_on_cpu::block_operation::all, value); }
inline int __syncthreads_or(int value) { return cuda_on_cpu::block_together(cuda_on_cpu::block_operation::any, value); }

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) { cuda_on_cpu::warp_together(cuda_on_cpu::warp_operation::sync, mask, 0, 0, 32); }
inline unsigned __ballot_sync(unsigned mask, int value) {
    return static_cast<unsigned>(cuda_on_cpu::warp_together(cuda_on_cpu::warp_operation::ballot, mask, value != 0, 0, 32));
}
inline int __any_sync(unsigned mask, int value) {
    return static_cast<int>(cuda_on_cpu::warp_together(cuda_on_cpu::warp_operation::any, mask, value != 0, 0, 32));
}
inline int __all_sync(unsigned mask, int value) {
    return static_cast<int>(cuda_on_cpu::warp_together(cuda_on_cpu::warp_operation::all, mask, value != 0, 0, 32));
}
inline unsigned __activemask() { return cuda_on_cpu::active_lanes(); }

template <class T> T __shfl_sync(unsigned mask, T value, int lane, int width = 32) {
    return cuda_on_cpu::shuffled(cuda_on_cpu::warp_operation::shuffle, mask, value, static_cast<unsigned>(lane), width);
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    return cuda_on_cpu::shuffled(cuda_on_cpu::warp_operation::shuffle_up, mask, value, delta, width);
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    return cuda_on_cpu::shuffled(cuda_on_cpu::warp_operation::shuffle_down, mask, value, delta, width);
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32) {
    return cuda_on_cpu::shuffled(cuda_on_cpu::warp_operation::shuffle_xor, mask, value, static_cast<unsigned>(lanes), width);
}
template <class T> unsigned __match_any_sync(unsigned mask, T value) {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    return static_cast<unsigned>(cuda_on_cpu::warp_together(cuda_on_cpu::warp_operation::match_any, mask, word, 0, 32));
}

inline void __threadfence() { cuda_on_cpu::switch_point(false); }
inline void __threadfence_block() { cuda_on_cpu::switch_point(false); }
inline void __threadfence_system() { cuda_on_cpu::switch_point(false); }
inline void __nanosleep(unsigned) { cuda_on_cpu::switch_point(true); }
