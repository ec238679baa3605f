// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/reduce_block.cuh"

#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"

#include "chorus/base/random.hpp"
#include "chorus/data/bfloat16.hpp"
#include "chorus/data/half.hpp"
#include "chorus/data/reduce_block.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

using namespace chorus;
using cuda_on_cpu::device_buffer;

namespace {

/// Numbers of all sizes, zeros and infinities among them; no NaN, since what one carries is not told.
template <class T> std::vector<T> numbers(std::size_t count, std::uint64_t seed) {
    counter_random const random{seed};
    std::vector<T> made;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t const bits = random.bits(i);
        T value = detail::load_element<T>(reinterpret_cast<std::byte const*>(&bits));
        if constexpr (detail::real<T>) {
            auto const wide = static_cast<wide_t<T>>(value);
            if (!(wide - wide == 0)) value = T(static_cast<wide_t<T>>(i % 3));
        }
        made.push_back(value);
    }
    return made;
}

using bytes = std::vector<std::byte>;
template <class T> bytes bytes_of(std::vector<T> const& values) {
    auto const* const begin = reinterpret_cast<std::byte const*>(values.data());
    return {begin, begin + values.size() * sizeof(T)};
}

/// What the host's reducer makes of the same inputs, in its three steps.
bytes mean_on_host(reducer const& host, std::vector<bytes> inputs, std::size_t count, std::uint64_t ranks, bool before, bool after) {
    std::vector<std::byte const*> addresses;
    for (bytes& input : inputs) {
        bytes carried(count * host.carrier_bytes);
        if (before) host.prepare(carried.data(), input.data(), count, ranks), input = carried;
        addresses.push_back(input.data());
    }
    bytes total(count * host.carrier_bytes);
    host.fold(total.data(), addresses.data(), addresses.size(), count, nullptr);
    if (!after) return total;
    bytes result(count * host.element_bytes);
    host.finish(result.data(), total.data(), count, ranks);
    return result;
}

template <class T> void check_mean(std::uint64_t seed) {
    cuda_on_cpu::begin(seed);
    counter_random const random{seed, 3};
    std::size_t const count = random.below(0, 90), many = 1 + random.below(1, 4), offset = random.below(2, 3) * 16;
    std::uint64_t const ranks = 1 + random.below(3, 9);
    bool const before = random.below(4, 2) == 0, after = random.below(5, 2) == 0;
    auto const host = make_reducer<T>(mean{}, detail::instruction_set::baseline);
    std::vector<bytes> inputs;
    std::vector<device_buffer<std::byte>> on_device;
    std::vector<std::byte const*> addresses;
    for (std::size_t i = 0; i < many; ++i) {
        inputs.push_back(bytes_of(numbers<T>(count, seed * 31 + i)));
        if (!before) {
            bytes carried(count * host.carrier_bytes);
            host.prepare(carried.data(), inputs.back().data(), count, ranks);
            inputs.back() = carried;
        }
        on_device.emplace_back(inputs.back(), offset + (random.below(6, 4) == 0 ? 16 - (before ? sizeof(T) : host.carrier_bytes) % 16 : 0));
        addresses.push_back(on_device.back().data());
    }
    device_buffer<std::byte> const out{count * (after ? host.element_bytes : host.carrier_bytes)};
    cudaDeviceSynchronize();
    auto const start = cuda_on_cpu::moved();
    cuda_on_cpu::test_stream const stream;
    auto const ends = static_cast<cuda::mean_ends>((before ? 1 : 0) + (after ? 2 : 0));
    cuda::make_device_reducer<T>(mean{}).fold(out.data(), addresses, count, ends, ranks, stream);
    bytes const result = out.values(stream);
    INFO("seed ", seed, ", count ", count, ", inputs ", many, ", ranks ", ranks, ": ", cuda_on_cpu::failure());
    REQUIRE(cuda_on_cpu::failure() == "");
    CHECK(result == mean_on_host(host, inputs, count, ranks, before, after));
    CHECK(cuda_on_cpu::moved().read - start.read == many * count * (before ? host.element_bytes : host.carrier_bytes));
    CHECK(cuda_on_cpu::moved().written - start.written == result.size());
}

struct larger_magnitude {
    float operator()(float a, float b) const { return a * a < b * b ? b : a; }
};
struct pair_of_words {
    std::uint32_t a, b, c;
    friend pair_of_words operator+(pair_of_words x, pair_of_words y) { return {x.a + y.a, x.b + y.b, x.c + y.c}; }
};

}  // namespace

TEST_CASE("a mean of k inputs, scaled before and divided after in the same pass, has the bits of the host's three steps") {
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        check_mean<float>(seed);
        check_mean<half>(seed);
        check_mean<bfloat16>(seed);
        check_mean<std::int8_t>(seed);
        check_mean<std::int64_t>(seed);
    }
}

TEST_CASE("a user's function and a user's class are reduced element by element") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        cuda_on_cpu::begin(seed);
        auto const a = numbers<float>(70, seed), b = numbers<float>(70, seed + 100);
        device_buffer<float> const left{a}, right{b};
        cuda::reduce_block(larger_magnitude{}, left.span(), right.read(), nullptr);
        auto const larger = left.values();
        for (std::size_t i = 0; i < 70; ++i) REQUIRE(larger[i] == larger_magnitude{}(a[i], b[i]));
        std::vector<pair_of_words> const words(41, {1, 2, 0xFFFFFFFFu});
        device_buffer<pair_of_words> const x{words}, y{words};
        cuda::reduce_block(sum{}, x.span(), y.read(), nullptr);
        auto const sums = x.values();
        REQUIRE(std::all_of(sums.begin(), sums.end(), [](auto s) { return s.a == 2 && s.b == 4 && s.c == 0xFFFFFFFEu; }));
        REQUIRE(cuda_on_cpu::failure() == "");
    }
}

TEST_CASE("what cannot be folded is refused, saying why") {
    cuda_on_cpu::begin(1);
    device_buffer<float> const a{4}, b{5};
    CHECK_THROWS_AS(cuda::reduce_block(sum{}, a.span(), b.read(), nullptr), error);
    std::vector<float const*> const many(257, a.data());
    CHECK_THROWS_WITH(cuda::fold<float>(sum{}, a.span(), std::span<float const* const>{many}, nullptr),
                      "invalid argument: a fold takes 1 to 256 inputs, not 257");
    CHECK(cuda::make_device_reducer<half>(mean{}).carrier_bytes == 4);
    CHECK(cuda::make_device_reducer<half>(sum{}).operation == "sum");
}
