// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "cuda_on_cpu/runtime_api.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>

namespace cuda_on_cpu {

/// A kernel with its arguments, to be run once per thread. `words` is a copy of the arguments' bytes, in which addresses of ordinary host
/// memory are looked for.
struct kernel_call {
    std::function<void()> body;
    dim3 grid, block;
    std::size_t shared_bytes = 0;
    void const* kernel = nullptr;
};

/// Refuses values of 8 bytes in an argument that are addresses of ordinary host memory.
bool has_host_address(void const* argument, std::size_t bytes);
cudaError_t enqueue_kernel(kernel_call call, bool has_host_addresses, cudaStream_t stream);
cudaError_t allow_shared_memory(void const* kernel, std::size_t bytes);

}  // namespace cuda_on_cpu

struct cudaLaunchAttribute {};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};

template <class... Expected, class... Given>
cudaError_t cudaLaunchKernelEx(cudaLaunchConfig_t const* config, void (*kernel)(Expected...), Given&&... arguments) {
    static_assert((std::is_trivially_copyable_v<Expected> && ...), "arguments of kernels are copied as bytes");
    return [&](Expected... values) {
        bool const has_host_addresses = (false || ... || cuda_on_cpu::has_host_address(&values, sizeof values));
        return cuda_on_cpu::enqueue_kernel({[=] { kernel(values...); },
                                            config->gridDim,
                                            config->blockDim,
                                            config->dynamicSmemBytes,
                                            reinterpret_cast<void const*>(kernel)},
                                           has_host_addresses, config->stream);
    }(std::forward<Given>(arguments)...);
}

template <class... Expected>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Expected...), cudaFuncAttribute, int value) {
    return cuda_on_cpu::allow_shared_memory(reinterpret_cast<void const*>(kernel), static_cast<std::size_t>(value));
}
