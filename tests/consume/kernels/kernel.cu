// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <chorus/cuda/device_span.cuh>

__global__ void fill(chorus::cuda::device_span<int> memory, int value) {
    if (threadIdx.x < memory.size()) memory.data()[threadIdx.x] = value;
}

int main() {
    int version = 0;
    return cudaRuntimeGetVersion(&version) == cudaSuccess && version >= 12000 ? 0 : 1;  // needs no device
}
