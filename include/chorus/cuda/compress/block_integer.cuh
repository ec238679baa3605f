// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/block_integer.hpp"
#include "chorus/cuda/detail/block_kernel.cuh"

namespace chorus::cuda {

// block_integer on a device: the bytes of the host, stochastic rounding included. A warp has a block: of up to 1024 elements each is read
// once; of longer blocks twice. Messages begin at an address divisible by 16. What is not finite cannot be refused.

/// Enqueues the encoding, counts the call, and returns the message's bytes: max_wire_bytes(dense.size()).
inline std::size_t encode(block_integer& how, device_span<float const> dense, device_span<std::byte> wire, cudaStream_t stream) {
    std::size_t const bytes = how.max_wire_bytes(dense.size());
    chorus::detail::expect_encodable(wire, bytes, how.on_nonfinite, how.name);
    bool const is_range = how.scale == block_scale::range;
    chorus::detail::device_blocks const blocks{how.bits, how.block, dense.size(), is_range};
    chorus::detail::block_choices const choices{blocks.levels(), how.rounding == rounding::stochastic ? 1u : 0u,
                                                how.on_nonfinite == nonfinite::sanitise ? 1u : 0u, how.seed, how.calls};
    auto* const kernel = is_range ? chorus::detail::encode_blocks_on_device<true> : chorus::detail::encode_blocks_on_device<false>;
    launch(kernel, streaming_grid(blocks.threads()), threads_of_streaming, 0, stream, dense.data(), wire.data(), blocks,
           blocks.header(), choices);
    ++how.calls;
    return bytes;
}

/// As of half_cast. Steps are taken as they are.
inline void decode(block_integer const& how, device_span<std::byte const> received, device_span<float> out, std::uint32_t* refused,
                   cudaStream_t stream) {
    chorus::detail::decode_blocks(how.max_wire_bytes(out.size()), {how.bits, how.block, out.size(), how.scale == block_scale::range},
                                  received, out, false, refused, how.name, stream);
}
inline void decode_add(block_integer const& how, device_span<std::byte const> received, device_span<float> out, std::uint32_t* refused,
                       cudaStream_t stream) {
    chorus::detail::decode_blocks(how.max_wire_bytes(out.size()), {how.bits, how.block, out.size(), how.scale == block_scale::range},
                                  received, out, true, refused, how.name, stream);
}

}  // namespace chorus::cuda
