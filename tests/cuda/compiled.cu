// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Compiled by nvcc for every architecture, and linked: all kernels of the library, each for the elements that tell them apart. Run, it says
// what this machine lacks to use a GPU.
#include "chorus/cuda/device.cuh"
#include "chorus/cuda/reduce_block.cuh"

#include <cstdint>
#include <cstdio>
#include <exception>

using namespace chorus;

namespace {

template <class T, class... Ops> void compile_folds(Ops... ops) {
    auto const use = [](auto op) { return cuda::make_device_reducer<T>(op).fold != nullptr; };
    if (!(use(ops) && ...)) std::puts("a reducer has no fold");
}

}  // namespace

int main() {
    compile_folds<float>(sum{}, product{}, minimum{}, logical_xor{}, mean{});
    compile_folds<double>(sum{}, maximum{}, mean{});
    compile_folds<half>(sum{}, minimum{}, mean{});
    compile_folds<bfloat16>(product{}, maximum{}, mean{});
    compile_folds<bool>(logical_and{}, bit_xor{});
    compile_folds<std::int8_t>(sum{}, minimum{}, mean{});
    compile_folds<std::uint16_t>(product{}, bit_and{}, mean{});
    compile_folds<std::int32_t>(sum{}, bit_or{}, maximum{}, mean{});
    compile_folds<std::int64_t>(sum{}, minimum{}, mean{});
    try {
        std::printf("%d device(s)\n", cuda::expect_device());
    } catch (std::exception const& failure) {
        std::puts(failure.what());
        return 77;
    }
    return 0;
}
