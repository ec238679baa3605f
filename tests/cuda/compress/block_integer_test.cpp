// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/cuda/compress/block_integer.cuh"

#include "cuda_on_cpu/compressor_twin.hpp"

#include <doctest/doctest.h>

using namespace chorus;

TEST_CASE("block_integer on a device makes the bytes of the host: bits, scales, roundings, blocks of all lengths, call after call") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        cuda_on_cpu::begin(seed);
        counter_random const random{seed};
        block_integer host{.bits = 2u << random.below(0, 3),
                           .block = std::size_t{16} << random.below(1, 8),
                           .scale = random.below(2, 2) == 0 ? block_scale::largest : block_scale::range,
                           .rounding = random.below(3, 2) == 0 ? rounding::nearest : rounding::stochastic,
                           .seed = seed,
                           .on_nonfinite = random.below(4, 3) == 0 ? nonfinite::sanitise : nonfinite::propagate};
        block_integer device = host;
        std::size_t const count = seed < 40 ? seed : random.below(5, 2500);
        std::size_t const offset = random.below(6, 3) == 0 ? 0 : random.below(7, 4);
        bool const is_long = host.block > 1024 && count > 1024;
        INFO("seed ", seed, ", bits ", host.bits, ", block ", host.block, ", count ", count, ", range ", host.scale == block_scale::range);
        for (int call = 0; call < (seed < 40 ? 2 : 1); ++call) {
            auto const moved = cuda_on_cpu::check_twin(host, device, cuda_on_cpu::hard_floats(count, seed + 1000, seed % 4 == 0), offset);
            CHECK(moved.encoded.read <= (is_long ? 8 : 4) * count);
            if (!is_long) CHECK(moved.encoded.read == 4 * count);
            CHECK(moved.encoded.written == host.max_wire_bytes(count));
            CHECK(moved.decoded.read >= host.max_wire_bytes(count));
            CHECK(moved.decoded.read <= host.max_wire_bytes(count) + 16 * 8);
            CHECK(moved.decoded.written == 4 * count);
        }
        CHECK(device.calls == host.calls);
    }
}

TEST_CASE("zeros of both signs, equal elements and blocks of nothing but zeros have the host's grids") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        cuda_on_cpu::begin(seed);
        counter_random const random{seed, 5};
        std::vector<float> dense(70);
        for (std::size_t i = 0; i < dense.size(); ++i) {
            std::uint64_t const kind = random.below(i, 6);
            dense[i] = kind < 2 ? 0.0f : kind < 4 ? -0.0f : seed % 3 == 0 ? 0.0f : 2.5f;
        }
        block_integer host{.block = 32, .scale = block_scale::range}, device = host;
        cuda_on_cpu::check_twin(host, device, dense, 0);
    }
}

TEST_CASE("block_integer on a device refuses what it cannot take") { cuda_on_cpu::check_refusals(block_integer{}); }
