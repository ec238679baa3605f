// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"

#include <cuda_runtime.h>

#include <string>
#include <type_traits>

namespace chorus::cuda {

/// What a failed call of the CUDA runtime is to the caller: memory that was not there is `too_large`, a machine without a usable
/// GPU `unsupported`, a value that was refused `invalid_argument`, everything else `system_failed`.
inline errc code_of(cudaError_t result) noexcept {
    switch (result) {
        case cudaErrorMemoryAllocation: return errc::too_large;
        case cudaErrorNoDevice:
        case cudaErrorInsufficientDriver:
        case cudaErrorNoKernelImageForDevice: return errc::unsupported;
        case cudaErrorInvalidValue:
        case cudaErrorInvalidDevice:
        case cudaErrorInvalidConfiguration: return errc::invalid_argument;
        default: return errc::system_failed;
    }
}

/// Raises unless `result` is success: "WHAT failed: out of memory (cudaErrorMemoryAllocation)". `what` is a text, or a callable that
/// returns one, so that it is only composed when it is needed.
template <class What>
void expect_success(cudaError_t result, What const& what) {
    if (result == cudaSuccess) return;
    std::string message;
    if constexpr (std::is_invocable_v<What const&>) message = what();
    else message = what;
    message += " failed: ";
    message += cudaGetErrorString(result);
    message += " (";
    message += cudaGetErrorName(result);
    message += ")";
    chorus::detail::raise(code_of(result), message);
}

}  // namespace chorus::cuda
