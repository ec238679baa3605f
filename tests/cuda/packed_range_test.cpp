// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/launch.cuh"
#include "chorus/cuda/packed_range.cuh"

#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using namespace chorus;
using cuda_on_cpu::device_buffer;

namespace {

std::byte const* at(std::uintptr_t address) { return reinterpret_cast<std::byte const*>(address); }

__global__ void count_visits(unsigned* visits, cuda::packed_range<8> range) {
    range.for_each([&](std::size_t i) { for (std::size_t j = 0; j < 8; ++j) ++visits[i + j]; }, [&](std::size_t i) { ++visits[i]; });
}

}  // namespace

TEST_CASE("packs begin at addresses divisible by 16 in all arrays, or there are none") {
    for (std::size_t count = 0; count < 40; ++count) {
        for (std::uintptr_t first = 0; first < 32; first += 2) {
            for (std::uintptr_t second = 0; second < 32; second += 2) {
                auto const range = cuda::packed_range<8>::over(count, {{at(4096 + first), 2}, {at(8192 + second), 2}});
                std::size_t const head = (32 - first) % 16 / 2;
                bool const can = first % 16 == second % 16 && head + 8 <= count;
                REQUIRE(range.packs == (can ? (count - head) / 8 : 0));
                REQUIRE(range.head == (can ? head : 0));
            }
        }
    }
    CHECK(cuda::packed_range<1>::over(10, {{at(4096), 1}}).items() == 10);
}

TEST_CASE("every element is visited once, by grids of any size") {
    cuda_on_cpu::begin(1);
    for (std::size_t count : {0u, 1u, 7u, 8u, 100u, 1000u}) {
        for (std::uintptr_t offset : {0u, 6u}) {
            device_buffer<unsigned> const visits{std::vector<unsigned>(count)};
            auto const range = cuda::packed_range<8>::over(count, {{at(4096 + offset), 2}});
            cuda::launch(count_visits, 3, 32, 0, nullptr, visits.data(), range);
            for (unsigned many : visits.values()) REQUIRE(many == 1);
        }
    }
}
