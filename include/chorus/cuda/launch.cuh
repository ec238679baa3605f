// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/cuda/error.cuh"

#include <cuda_runtime.h>

#include <cstddef>
#include <string>
#include <utility>

namespace chorus::cuda {

/// Enqueues `kernel(arguments...)` on `stream`, whose device must be current, and returns at once: the only place that launches. A grid of
/// no blocks does nothing. Raises where the launch is refused, saying its shape; what goes wrong while the kernel runs is reported by a
/// later call.
template <class... Expected, class... Given>
void launch(void (*kernel)(Expected...), dim3 grid, dim3 block, std::size_t shared_bytes, cudaStream_t stream, Given&&... arguments) {
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
    auto const shape = [&] {
        auto const text = [](dim3 d) {
            return std::to_string(d.x) + " x " + std::to_string(d.y) + " x " + std::to_string(d.z);
        };
        return "the launch of " + text(grid) + " blocks of " + text(block) + " threads with " + std::to_string(shared_bytes) +
               " bytes of shared memory";
    };
    constexpr std::size_t always_allowed = 48 * 1024;
    if (shared_bytes > always_allowed) {
        auto const bytes = static_cast<int>(shared_bytes);
        expect_success(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), shape);
    }
    cudaLaunchConfig_t config{};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    expect_success(cudaLaunchKernelEx(&config, kernel, std::forward<Given>(arguments)...), shape);
}

}  // namespace chorus::cuda
