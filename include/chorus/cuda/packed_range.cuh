// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/cuda/error.cuh"

#include <cuda_runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace chorus::cuda {

inline constexpr unsigned threads_of_streaming = 256;

/// Blocks of `threads_of_streaming` threads: one thread for each of `items`, but no more than the current device holds at once.
inline dim3 streaming_grid(std::size_t items) {
    int device = 0, processors = 0, threads = 0;
    expect_success(cudaGetDevice(&device), "cudaGetDevice");
    expect_success(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "cudaDeviceGetAttribute");
    expect_success(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device), "cudaDeviceGetAttribute");
    std::size_t const most = static_cast<std::size_t>(processors) * static_cast<std::size_t>(threads) / threads_of_streaming;
    std::size_t const wanted = items / threads_of_streaming + (items % threads_of_streaming != 0);
    return {static_cast<unsigned>(wanted < most ? wanted : most)};
}

/// Where an array lies, whatever its elements are.
struct array_place {
    void const* begin = nullptr;
    std::size_t element_bytes = 1;
};

/// `count` elements cut for kernels that pass over several arrays at once, so that packs of PerPack elements begin at addresses divisible
/// by 16 in all of them: `head` elements, `packs` packs, and what is left. Where the arrays lie so that no head makes it true of all, or
/// elements cannot be packed (PerPack 1), there are no packs.
template <std::size_t PerPack> struct packed_range {
    std::size_t count = 0;
    std::size_t head = 0;
    std::size_t packs = 0;

    template <class Arrays>
    static packed_range over(std::size_t count, Arrays const& arrays) {
        if constexpr (PerPack > 1) {
            for (std::size_t head = 0; head < 16 && head + PerPack <= count; ++head) {
                bool fits = true;
                for (array_place const& one : arrays)
                    fits = fits && (reinterpret_cast<std::uintptr_t>(one.begin) + head * one.element_bytes) % 16 == 0;
                if (fits) return {count, head, (count - head) / PerPack};
            }
        }
        return {count, 0, 0};
    }
    static packed_range over(std::size_t count, std::initializer_list<array_place> arrays) {
        return over<std::initializer_list<array_place>>(count, arrays);
    }

    /// So many threads have something to do.
    std::size_t items() const noexcept {
        std::size_t const rest = count - packs * PerPack;
        return packs > rest ? packs : rest;
    }

    /// In a kernel of one-dimensional blocks: whole(at) for the elements at … at + PerPack - 1, single(at) for one.
    template <class Whole, class Single>
    __device__ void for_each(Whole const& whole, Single const& single) const {
        std::size_t const first = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x, step = std::size_t{gridDim.x} * blockDim.x;
        for (std::size_t i = first; i < packs; i += step) whole(head + i * PerPack);
        std::size_t const rest = count - packs * PerPack;
        for (std::size_t i = first; i < rest; i += step) single(i < head ? i : i + packs * PerPack);
    }
};

}  // namespace chorus::cuda
