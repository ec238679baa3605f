// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cuda_runtime.h>

namespace chorus::cuda {

/// The block's dynamic shared memory, of as many bytes as `launch` was told, as an array of T; aligned to 16 bytes. The only shared memory
/// of kernels here: where each block's lies is decided in this one place.
template <class T>
__device__ T* dynamic_shared() {
    extern __shared__ uint4 chorus_dynamic_shared[];
    return reinterpret_cast<T*>(chorus_dynamic_shared);
}

}  // namespace chorus::cuda
