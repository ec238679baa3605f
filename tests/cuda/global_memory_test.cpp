// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/global_memory.cuh"
#include "chorus/cuda/launch.cuh"
#include "chorus/data/half.hpp"

#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using namespace chorus;
using cuda_on_cpu::device_buffer;

namespace {

struct three_bytes { char c[3]; };
struct five_words { unsigned w[5]; };
struct alignas(16) two_packs { unsigned w[8]; };

template <class T> __global__ void copy_each(T const* in, T* out, unsigned count) {
    unsigned const at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) cuda::store(out + at, cuda::load(in + at));
}
template <class T, std::size_t N> __global__ void copy_packs(T const* in, T* out) {
    cuda::store_pack(out + threadIdx.x * N, cuda::load_pack<N>(in + threadIdx.x * N));
}

template <class T> std::vector<T> patterned(std::size_t count) {
    std::vector<T> made(count);
    for (std::size_t i = 0; i < count * sizeof(T); ++i) reinterpret_cast<unsigned char*>(made.data())[i] = static_cast<unsigned char>(i * 7 + 1);
    return made;
}
template <class T> bool same(std::vector<T> const& a, std::vector<T> const& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T> void check_copy() {
    cuda_on_cpu::begin(sizeof(T));
    auto const values = patterned<T>(45);
    device_buffer<T> const in{values}, out{values.size()};
    cuda::launch(copy_each<T>, 2, 32, 0, nullptr, in.data(), out.data(), 45u);
    CHECK(same(out.values(), values));
    CHECK(cuda_on_cpu::failure() == "");
    CHECK(cuda_on_cpu::moved().read == 45 * sizeof(T));
    CHECK(cuda_on_cpu::moved().written == 45 * sizeof(T));
}

}  // namespace

TEST_CASE("elements of every size come and go bit by bit") {
    check_copy<char>();
    check_copy<half>();
    check_copy<three_bytes>();
    check_copy<double>();
    check_copy<five_words>();
    check_copy<two_packs>();
}

TEST_CASE("packs move in accesses of 16 bytes") {
    cuda_on_cpu::begin(3);
    auto const values = patterned<half>(16 * 8);
    device_buffer<half> const in{values}, out{values.size()};
    cuda::launch(copy_packs<half, 16>, 1, 8, 0, nullptr, in.data(), out.data());
    CHECK(same(out.values(), values));
    device_buffer<half> const odd{values, 1};
    cuda::launch(copy_packs<half, 16>, 1, 8, 0, nullptr, odd.data(), out.data());
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    CHECK(cuda_on_cpu::failure().find("which is not aligned") != std::string::npos);
    cuda_on_cpu::begin(3);
}
