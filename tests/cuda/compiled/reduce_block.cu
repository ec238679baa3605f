// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/reduce_block.cuh"

#include <cstdint>

using namespace chorus;

namespace {

template <class T, class... Ops> bool has_folds(Ops... ops) { return ((cuda::make_device_reducer<T>(ops).fold != nullptr) && ...); }

}  // namespace

// Elements and operations that differ in what a kernel does with them.
bool has_all_folds() {
    return has_folds<float>(sum{}, product{}, minimum{}, logical_xor{}, mean{}) && has_folds<double>(sum{}, maximum{}, mean{}) &&
           has_folds<half>(sum{}, minimum{}, mean{}) && has_folds<bfloat16>(product{}, maximum{}, mean{}) &&
           has_folds<bool>(logical_and{}, bit_xor{}) && has_folds<std::int8_t>(sum{}, minimum{}, mean{}) &&
           has_folds<std::uint16_t>(product{}, bit_and{}, mean{}) && has_folds<std::int32_t>(sum{}, bit_or{}, maximum{}, mean{}) &&
           has_folds<std::int64_t>(sum{}, minimum{}, mean{});
}
