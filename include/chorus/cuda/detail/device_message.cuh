// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/compress/detail/wire_header.hpp"
#include "chorus/cuda/device_span.cuh"
#include "chorus/cuda/global_memory.cuh"

#include <cuda_runtime.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace chorus::detail {

struct alignas(16) two_words {
    std::uint64_t word[2];
};

/// The 16 bytes before a payload, as a kernel writes and compares them.
struct device_header {
    std::uint64_t first;
    std::uint64_t count;

    static device_header of(wire_header const& header) {
        std::array<std::byte, wire_header::bytes> bytes{};
        header.write(bytes);
        return std::bit_cast<device_header>(bytes);
    }
    __device__ bool is_at(std::byte const* wire) const {
        auto const found = cuda::load(reinterpret_cast<two_words const*>(wire));
        return found.word[0] == first && found.word[1] == count;
    }
    __device__ void write(std::byte* wire) const { cuda::store(reinterpret_cast<two_words*>(wire), two_words{{first, count}}); }
};

/// In a kernel, by all threads of every block: whether the message begins with this header. One thread of each block reads it; of a message
/// that does not, the first block counts one more in `refused`.
__device__ inline bool is_expected(device_header const& header, std::byte const* wire, std::uint32_t* refused) {
    bool const is_first = threadIdx.x == 0;
    bool const is_so = __syncthreads_and(!is_first || header.is_at(wire)) != 0;
    if (!is_so && is_first && blockIdx.x == 0) atomicAdd(refused, 1u);
    return is_so;
}

__device__ inline float sanitised_on_device(float value, bool sanitises) { return sanitises ? sanitised(value) : value; }

inline void expect_aligned(void const* wire, std::string_view name) {
    expects(reinterpret_cast<std::uintptr_t>(wire) % 16 == 0, [&] {
        return std::string{name} + " on a device needs messages that begin at an address divisible by 16";
    });
}

/// What every encoder on a device checks before it launches. Values are not looked at, so that `refuse` cannot be kept.
inline void expect_encodable(cuda::device_span<std::byte> wire, std::size_t bytes, nonfinite policy, std::string_view name) {
    expect_aligned(wire.data(), name);
    expects(wire.size() >= bytes, [&] {
        return std::string{name} + " needs room for " + std::to_string(bytes) + " bytes and was given " + std::to_string(wire.size());
    });
    if (policy == nonfinite::refuse)
        raise(errc::unsupported, std::string{name} + " on a device cannot refuse values that are not finite: choose propagate or sanitise");
}

inline void expect_decodable(cuda::device_span<std::byte const> received, std::size_t bytes, std::string_view name) {
    expect_aligned(received.data(), name);
    wire_header::expect_whole(received.size() == bytes, name, [&] {
        return "it has " + std::to_string(received.size()) + " bytes instead of " + std::to_string(bytes);
    });
}

}  // namespace chorus::detail
