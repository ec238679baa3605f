// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/reduce_block.cuh"

#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"

#include "chorus/base/random.hpp"
#include "chorus/data/bfloat16.hpp"
#include "chorus/data/half.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

using namespace chorus;
using cuda_on_cpu::device_buffer;

namespace {

/// Every pattern of bits, NaN and infinities among them.
template <class T> std::vector<T> random_elements(std::size_t count, std::uint64_t seed) {
    counter_random const random{seed};
    std::vector<T> made;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t const bits = random.bits(i);
        if constexpr (std::is_same_v<T, bool>) {
            made.push_back((bits & 1) != 0);
        } else {
            made.push_back(detail::load_element<T>(reinterpret_cast<std::byte const*>(&bits)));
        }
    }
    return made;
}

template <class T> bool is_nan(T value) {
    if constexpr (detail::real<T>) return static_cast<wide_t<T>>(value) != static_cast<wide_t<T>>(value);
    else return false;
}

/// Bit by bit, but for what a NaN carries.
template <class T> bool same(T a, T b) { return (is_nan(a) && is_nan(b)) || std::memcmp(&a, &b, sizeof a) == 0; }

template <class T, class Op> void check_fold(Op op, std::uint64_t seed) {
    cuda_on_cpu::begin(seed);
    counter_random const random{seed, 7};
    std::size_t const count = random.below(0, 120), many = 1 + random.below(1, 5), offset = random.below(2, 17);
    bool const lies_apart = random.below(3, 4) == 0, is_in_place = random.below(4, 2) == 0;
    std::vector<std::vector<T>> inputs;
    std::vector<device_buffer<T>> on_device;
    std::vector<T const*> addresses;
    for (std::size_t i = 0; i < many; ++i) {
        inputs.push_back(random_elements<T>(count, seed * 100 + i));
        on_device.emplace_back(inputs.back(), offset + (lies_apart ? i : 0));
        addresses.push_back(on_device.back().data());
    }
    device_buffer<T> const separate{count, offset};
    auto const out = is_in_place ? on_device.back().span() : separate.span();
    cudaDeviceSynchronize();
    auto const before = cuda_on_cpu::moved();
    cuda_on_cpu::test_stream const stream;
    cuda::fold<T>(op, out, std::span<T const* const>{addresses}, stream);
    auto const result = (is_in_place ? on_device.back() : separate).values(stream);
    INFO("seed ", seed, ", count ", count, ", inputs ", many, ": ", cuda_on_cpu::failure());
    REQUIRE(cuda_on_cpu::failure().empty());
    for (std::size_t at = 0; at < count; ++at) {
        auto value = static_cast<wide_t<T>>(inputs[0][at]);
        for (std::size_t i = 1; i < many; ++i) value = op(value, static_cast<wide_t<T>>(inputs[i][at]));
        if (!same(result[at], many == 1 ? inputs[0][at] : static_cast<T>(value))) FAIL("element ", at);
    }
    auto const after = cuda_on_cpu::moved();
    if (many > 1) CHECK(after.read - before.read == many * count * sizeof(T));
    if (many > 1) CHECK(after.written - before.written == count * sizeof(T));
}

template <class T, class... Ops> void check_all(Ops... ops) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) (check_fold<T>(ops, seed), ...);
}

}  // namespace

TEST_CASE("a fold of k inputs gives the bits of the host, in one pass, for every seed of the stand-in") {
    check_all<float>(sum{}, product{}, minimum{}, maximum{}, logical_and{});
    check_all<double>(sum{}, maximum{});
    check_all<half>(sum{}, product{}, minimum{}, logical_xor{});
    check_all<bfloat16>(sum{}, maximum{});
    check_all<std::int8_t>(sum{}, maximum{}, bit_xor{});
    check_all<std::uint16_t>(product{}, minimum{}, bit_and{});
    check_all<std::int32_t>(sum{}, logical_or{}, bit_or{});
    check_all<std::uint64_t>(sum{}, maximum{});
}
