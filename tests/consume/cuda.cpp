// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include <chorus/version.hpp>

#include <cuda_runtime_api.h>

int main() {
    int version = 0;
    return cudaRuntimeGetVersion(&version) == cudaSuccess && version >= 12000 ? 0 : 1;  // needs no device
}
