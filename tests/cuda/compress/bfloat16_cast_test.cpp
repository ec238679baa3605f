// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/compress/bfloat16_cast.cuh"

#include "cuda_on_cpu/compressor_twin.hpp"

#include <doctest/doctest.h>

using namespace chorus;

TEST_CASE("bfloat16_cast on a device makes the bytes of the host, each element read and written once") {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        cuda_on_cpu::begin(seed);
        std::size_t const count = seed < 20 ? seed : 61 * (seed - 19);
        bfloat16_cast host, device;
        if (seed % 3 == 0) host.on_nonfinite = device.on_nonfinite = nonfinite::sanitise;
        auto const moved = cuda_on_cpu::check_twin(host, device, cuda_on_cpu::hard_floats(count, seed, true), seed % 5);
        CHECK(moved.encoded.read == 4 * count);
        CHECK(moved.encoded.written == 16 + 2 * count);
        CHECK(moved.decoded.read % 16 == 2 * count % 16);  // and the header, once for each block of threads
        CHECK(moved.decoded.read <= 2 * count + 16 * 8);
        CHECK(moved.decoded.written == 4 * count);
        CHECK(moved.added.read == moved.decoded.read + 4 * count);
        CHECK(moved.added.written == 4 * count);
    }
}

TEST_CASE("bfloat16_cast on a device refuses what it cannot take") { cuda_on_cpu::check_refusals(bfloat16_cast{}); }
