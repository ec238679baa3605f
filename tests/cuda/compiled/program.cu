// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/device.cuh"

#include <cstdio>
#include <exception>

// Linked with all other files of this folder, and run: it says what this machine lacks to use a GPU, and ends with 77.
int main() {
    try {
        std::printf("%d device(s)\n", chorus::cuda::expect_device());
    } catch (std::exception const& failure) {
        std::puts(failure.what());
        return 77;
    }
    return 0;
}
