// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/compress/bfloat16_cast.cuh"
#include "chorus/cuda/compress/block_integer.cuh"
#include "chorus/cuda/compress/half_cast.cuh"

using namespace chorus;

namespace {

template <class Compressor> void use_all(Compressor how) {
    cuda::encode(how, {}, {}, nullptr);
    cuda::decode(how, {}, {}, nullptr, nullptr);
    cuda::decode_add(how, {}, {}, nullptr, nullptr);
}

}  // namespace

void use_compressors() {
    use_all(half_cast{});
    use_all(bfloat16_cast{});
    use_all(block_integer{});
}
