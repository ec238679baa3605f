// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/detail/cast.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"
#include "chorus/cuda/detail/device_message.cuh"
#include "chorus/cuda/launch.cuh"
#include "chorus/cuda/packed_range.cuh"

#include <cuda_runtime.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace chorus::detail {

/// Casts to 16 bits on a device: 8 elements at a time. Narrow is the storage type, Format its rounding of values that are too large.
template <class Narrow, class Format, wire_format Wire> struct device_cast {
    static constexpr std::size_t per_pack = 8;
    using range = cuda::packed_range<per_pack>;

    static std::size_t encode(cuda::device_span<float const> dense, cuda::device_span<std::byte> wire, nonfinite policy,
                              std::string_view name, cudaStream_t stream);
    static void decode(cuda::device_span<std::byte const> received, cuda::device_span<float> out, bool adds, std::uint32_t* refused,
                       std::string_view name, cudaStream_t stream);

    static constexpr std::size_t bytes(std::size_t count) noexcept { return wire_header::bytes + 2 * count; }
    static device_header header(std::size_t count) { return device_header::of({Wire, 0, 0, count}); }

    __device__ static Narrow narrowed(float value, bool sanitises) {
        if (sanitises) {
            value = sanitised(value);
            std::uint32_t const bits = std::bit_cast<std::uint32_t>(value);
            if ((bits & 0x7FFFFFFFu) > Format::largest) value = std::bit_cast<float>((bits & 0x80000000u) | Format::largest);
        }
        return Narrow{value};
    }
};

template <class Cast, class Narrow>
__global__ void narrow_kernel_on_device(float const* dense, std::byte* wire, typename Cast::range range, device_header header,
                                        unsigned sanitises) {
    constexpr std::size_t per_pack = Cast::per_pack;
    auto* const codes = reinterpret_cast<Narrow*>(wire + wire_header::bytes);
    if (blockIdx.x == 0 && threadIdx.x == 0) header.write(wire);
    auto const whole = [&](std::size_t at) {
        auto const values = cuda::load_pack<per_pack>(dense + at);
        cuda::pack<Narrow, per_pack> result;
        for (std::size_t i = 0; i < per_pack; ++i) result.element[i] = Cast::narrowed(values.element[i], sanitises != 0);
        cuda::store_pack(codes + at, result);
    };
    range.for_each(whole, [&](std::size_t at) { cuda::store(codes + at, Cast::narrowed(cuda::load(dense + at), sanitises != 0)); });
}

template <class Cast, class Narrow, bool Adds>
__global__ void widen_kernel_on_device(std::byte const* wire, float* out, typename Cast::range range, device_header header,
                                       std::uint32_t* refused) {
    constexpr std::size_t per_pack = Cast::per_pack;
    if (!is_expected(header, wire, refused)) return;
    auto const* const codes = reinterpret_cast<Narrow const*>(wire + wire_header::bytes);
    auto const whole = [&](std::size_t at) {
        auto const narrow = cuda::load_pack<per_pack>(codes + at);
        cuda::pack<float, per_pack> result;
        if constexpr (Adds) result = cuda::load_pack<per_pack>(out + at);
        for (std::size_t i = 0; i < per_pack; ++i) {
            float const value = static_cast<float>(narrow.element[i]);
            result.element[i] = Adds ? result.element[i] + value : value;
        }
        cuda::store_pack(out + at, result);
    };
    range.for_each(whole, [&](std::size_t at) {
        float const value = static_cast<float>(cuda::load(codes + at));
        cuda::store(out + at, Adds ? cuda::load(out + at) + value : value);
    });
}

template <class Narrow, class Format, wire_format Wire>
std::size_t device_cast<Narrow, Format, Wire>::encode(cuda::device_span<float const> dense, cuda::device_span<std::byte> wire,
                                                      nonfinite policy, std::string_view name, cudaStream_t stream) {
    expect_encodable(wire, bytes(dense.size()), policy, name);
    auto const places = range::over(dense.size(), {{dense.data(), 4}, {wire.data() + wire_header::bytes, 2}});
    cuda::launch(narrow_kernel_on_device<device_cast, Narrow>, cuda::streaming_grid(places.items() + 1), cuda::threads_of_streaming, 0,
                 stream, dense.data(), wire.data(), places, header(dense.size()), policy == nonfinite::sanitise ? 1u : 0u);
    return bytes(dense.size());
}

template <class Narrow, class Format, wire_format Wire>
void device_cast<Narrow, Format, Wire>::decode(cuda::device_span<std::byte const> received, cuda::device_span<float> out, bool adds,
                                               std::uint32_t* refused, std::string_view name, cudaStream_t stream) {
    expect_decodable(received, bytes(out.size()), name);
    auto const places = range::over(out.size(), {{out.data(), 4}, {received.data() + wire_header::bytes, 2}});
    auto* const kernel = adds ? widen_kernel_on_device<device_cast, Narrow, true> : widen_kernel_on_device<device_cast, Narrow, false>;
    cuda::launch(kernel, cuda::streaming_grid(places.items() + 1), cuda::threads_of_streaming, 0, stream, received.data(), out.data(),
                 places, header(out.size()), refused);
}

}  // namespace chorus::detail

namespace chorus::detail {

/// What a cast is on a device: device_cast_of<C>::type is a device_cast.
template <class Cast> struct device_cast_of;
template <class Cast> concept cast_with_twin = requires { typename device_cast_of<Cast>::type; };

}  // namespace chorus::detail

namespace chorus::cuda {

// A cast on a device: the bytes of the host. One pass: 4 bytes read and 2 written for each element, or 2 read and 4 written (and 4
// more read to add). Messages begin at an address divisible by 16. What is not finite cannot be refused.

/// Enqueues the encoding and returns the message's bytes: max_wire_bytes(dense.size()).
template <chorus::detail::cast_with_twin Cast>
std::size_t encode(Cast const& how, device_span<float const> dense, device_span<std::byte> wire, cudaStream_t stream) {
    return chorus::detail::device_cast_of<Cast>::type::encode(dense, wire, how.on_nonfinite, how.name, stream);
}

/// Enqueues the decoding. A message whose header is not that of out.size() elements leaves `out` as it is, and `*refused`, a word that
/// kernels can reach, grows by one. Raises `corrupt` for another number of bytes.
template <chorus::detail::cast_with_twin Cast>
void decode(Cast const& how, device_span<std::byte const> received, device_span<float> out, std::uint32_t* refused, cudaStream_t stream) {
    chorus::detail::device_cast_of<Cast>::type::decode(received, out, false, refused, how.name, stream);
}
template <chorus::detail::cast_with_twin Cast>
void decode_add(Cast const& how, device_span<std::byte const> received, device_span<float> out, std::uint32_t* refused, cudaStream_t stream) {
    chorus::detail::device_cast_of<Cast>::type::decode(received, out, true, refused, how.name, stream);
}

}  // namespace chorus::cuda
