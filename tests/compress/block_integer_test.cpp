// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/block_integer.hpp"

#include "suites/compressor_suite.hpp"

#include <cmath>
#include <cstddef>

#include <doctest/doctest.h>

using chorus::block_integer;
using chorus::block_scale;

namespace {

block_integer chosen(unsigned bits, block_scale scale, chorus::rounding rounding, std::size_t block) {
    return {.bits = bits, .block = block, .scale = scale, .rounding = rounding};
}

}  // namespace

TEST_CASE("block_integer: all laws of a compressor, for every width, scale and rounding") {
    for (unsigned bits : {8u, 4u, 2u})
        for (auto scale : {block_scale::largest, block_scale::range})
            for (auto rounding : {chorus::rounding::nearest, chorus::rounding::stochastic}) {
                CAPTURE(bits);
                std::size_t const block = bits == 8 ? 512 : bits == 4 ? 128 : 16;
                suites::compressor_suite(chosen(bits, scale, rounding, block),
                                         {.suffering = block, .is_large_tried = bits == 4});
            }
    suites::compressor_suite(chosen(4, block_scale::largest, chorus::rounding::nearest, 4096), {.suffering = 0});
}

TEST_CASE("block_integer has what it cannot do refused") {
    suites::message_bytes wire(1000);
    suites::floats const x(4);
    auto refused = [&](block_integer c, char const* words) {
        CHECK(suites::unlike(chorus::errc::invalid_argument, {words}, [&] { c.encode(x, wire); }) == "");
    };
    refused({.bits = 3}, "8, 4 or 2 bits, not of 3");
    refused({.block = 0}, "a multiple of 16 elements, not of 0");
    refused({.block = 100}, "a multiple of 16 elements, not of 100");
}

TEST_CASE("CMP-7: what is sent of -x is the negative of what is sent of x, to the bit, and extremes survive") {
    for (unsigned bits : {8u, 4u, 2u}) {
        suites::floats x = suites::drawn(1023, bits);
        for (float v : {-1.0f, 1.0f, -0.5f, 0.5f, 0.0f, 1e-9f}) x.push_back(v);
        suites::floats minus(x.size());
        for (std::size_t i = 0; i < x.size(); ++i) minus[i] = -x[i];
        block_integer c{.bits = bits};
        auto const plus_result = suites::decoded(c, suites::encoded(c, x), x.size());
        auto const minus_result = suites::decoded(c, suites::encoded(c, minus), x.size());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < x.size(); ++i) wrong += !suites::same_bits(plus_result[i], -minus_result[i]);
        CHECK(wrong == 0);
        CHECK(std::abs(plus_result[1023] + 1.0f) < 1e-4f);
        CHECK(std::abs(plus_result[1024] - 1.0f) < 1e-4f);
    }
}

TEST_CASE("CMP-15: codes of all ranks are added as floats and do not overflow") {
    suites::floats const ones(100, 1.0f);
    block_integer c;
    auto const wire = suites::encoded(c, ones);
    for (int ranks : {3, 9}) {
        suites::floats sum(ones.size(), 0.0f);
        for (int rank = 0; rank < ranks; ++rank) c.decode_add(wire, sum);
        for (float v : sum) CHECK(std::abs(v - static_cast<float>(ranks)) <= static_cast<float>(ranks) / 127);
    }
}

TEST_CASE("NAN-4: a value that is not finite is told or survives, and does not harm other blocks") {
    float const nan = suites::float_limits::quiet_NaN(), infinite = suites::float_limits::infinity();
    for (suites::floats x : {suites::floats{nan, 1, 2}, suites::floats{infinite, 1, 2}, suites::floats{-infinite, infinite, 0}}) {
        x.resize(32, 1.0f);
        block_integer c{.block = 16};
        auto const result = suites::decoded(c, suites::encoded(c, x), x.size());
        for (std::size_t i = 0; i < 16; ++i) CHECK(std::isnan(result[i]));
        for (std::size_t i = 16; i < 32; ++i) CHECK(std::abs(result[i] - 1.0f) < 1e-4f);
        c.on_nonfinite = chorus::nonfinite::refuse;
        CHECK(suites::unlike(chorus::errc::invalid_argument, {"element 0 is"}, [&] { suites::encoded(c, x); }) == "");
    }
}

TEST_CASE("CMP-3: 2^20 floats take 1 MiB, and a header and steps of at most 1 %") {
    CHECK(suites::sent_bytes(block_integer{}) == (1u << 20) + 16 + 4 * 2048);
    CHECK(suites::sent_bytes(block_integer{}) <= (1u << 20) * 1.01);
    CHECK(suites::sent_bytes(block_integer{.bits = 4}) == (1u << 19) + 16 + 4 * 2048);
    CHECK(suites::sent_bytes(block_integer{.bits = 2, .scale = block_scale::range}) == (1u << 18) + 16 + 8 * 2048);
}
