// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/half_cast.hpp"
#include "chorus/cuda/detail/cast_kernel.cuh"

namespace chorus::cuda {

// half_cast on a device: the bytes of the host. One pass: 4 bytes read and 2 written for each element, or 2 read and 4 written (and 4
// more read to add). Messages begin at an address divisible by 16. What is not finite cannot be refused.

using half_cast_on_device = chorus::detail::device_cast<chorus::half, chorus::detail::half_format, chorus::detail::wire_format::half>;

/// Enqueues the encoding and returns the message's bytes: max_wire_bytes(dense.size()).
inline std::size_t encode(half_cast const& how, device_span<float const> dense, device_span<std::byte> wire, cudaStream_t stream) {
    return half_cast_on_device::encode(dense, wire, how.on_nonfinite, how.name, stream);
}

/// Enqueues the decoding. A message whose header is not that of out.size() elements leaves `out` as it is, and `*refused`, a word that
/// kernels can reach, grows by one. Raises `corrupt` for another number of bytes.
inline void decode(half_cast const& how, device_span<std::byte const> received, device_span<float> out, std::uint32_t* refused,
                   cudaStream_t stream) {
    half_cast_on_device::decode(received, out, false, refused, how.name, stream);
}
inline void decode_add(half_cast const& how, device_span<std::byte const> received, device_span<float> out, std::uint32_t* refused,
                       cudaStream_t stream) {
    half_cast_on_device::decode(received, out, true, refused, how.name, stream);
}

}  // namespace chorus::cuda
