// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/block_sparse.hpp"

#include "suites/compressor_suite.hpp"

#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

using chorus::block_sparse;
using suites::floats;

TEST_CASE("block_sparse: all laws of a compressor") {
    suites::compressor_suite(block_sparse{.block = 10});
    suites::compressor_suite(block_sparse{}, {.is_large_tried = false});
}

TEST_CASE("blocks of zeros cost one bit, the others all their elements") {
    for (std::size_t block : {1u, 3u, 64u, 1000u})
        for (std::size_t count : {1u, 8u, 63u, 64u, 65u, 1000u, 5001u}) {
            floats x(count);
            std::size_t const blocks = (count + block - 1) / block;
            std::size_t sent = 0;
            for (std::size_t b = 0; b < blocks; b += 3) {  // every third block holds one element, its last
                std::size_t const end = (std::min)(count, (b + 1) * block);
                x[end - 1] = b % 2 == 0 ? -1.0f : 1e-45f;
                sent += end - b * block;
            }
            block_sparse c{.block = block};
            auto const wire = suites::encoded(c, x);
            CHECK(wire.size() == 16 + (blocks + 7) / 8 + 4 * sent);
            bool const is_same = suites::same_bits(suites::decoded(block_sparse{}, wire, count), x);
            CHECK(is_same);
        }
}

TEST_CASE("minus zero survives; a block of nothing but NaN is left out when sanitised") {
    block_sparse c{.block = 2};
    CHECK(suites::same_bits(suites::decoded(c, suites::encoded(c, {0, 0, -0.0f, 0}), 4), floats{0, 0, -0.0f, 0}));
    float const nan = suites::float_limits::quiet_NaN();
    c.on_nonfinite = chorus::nonfinite::sanitise;
    CHECK(suites::encoded(c, {nan, nan, nan, 1}).size() == 16 + 1 + 8);
}

TEST_CASE("a map of blocks that the vector does not have, and blocks of no length, are refused") {
    block_sparse c{.block = 2};
    auto wire = suites::encoded(c, {1, 0, 0, 0, 5});
    floats out(5);
    auto const refused = [&](std::string_view words) {
        return suites::unlike(chorus::errc::corrupt, {"block_sparse", words}, [&] { c.decode(wire, out); });
    };
    wire[16] |= std::byte{8};
    CHECK(refused("more blocks") == "");
    wire[16] = std::byte{7};
    CHECK(refused("bytes instead of") == "");
    wire[3] = std::byte{0};
    CHECK(refused("no length") == "");
    c.block = 0;
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"block_sparse", "0"}, [&] { c.max_wire_bytes(1); }) == "");
}
