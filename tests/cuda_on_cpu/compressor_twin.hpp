// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "cuda_on_cpu/control.hpp"
#include "cuda_on_cpu/device_buffer.hpp"

#include "chorus/base/random.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace cuda_on_cpu {

/// Numbers of many sizes, zeros of both signs, subnormals; with `is_wild` NaN and infinities, too.
inline std::vector<float> hard_floats(std::size_t count, std::uint64_t seed, bool is_wild) {
    chorus::counter_random const random{seed};
    std::vector<float> made(count);
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t const bits = random.bits(i);
        made[i] = static_cast<float>(random.unit(2 * count + i) * 2 - 1) * std::ldexp(1.0f, static_cast<int>(bits % 40) - 20);
        if (bits >> 60 == 0) made[i] = (bits & 64) != 0 ? 0.0f : -0.0f;
        if (bits >> 60 == 1) made[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits) & 0x807FFFFFu);
        if (is_wild && bits >> 58 == 8) made[i] = std::bit_cast<float>(static_cast<std::uint32_t>(bits) | 0x7F800000u);
        if (is_wild && bits >> 58 == 9) made[i] = std::copysign(std::numeric_limits<float>::infinity(), made[i]);
        if (is_wild && bits >> 58 == 10) made[i] = std::copysign(3e38f, made[i]);
    }
    return made;
}

inline bool same_floats(std::vector<float> const& a, std::vector<float> const& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]) && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
    return a.size() == b.size();
}

/// What encoding and decoding moved: bytes of elements, of messages without what blocks of threads read of the header.
struct twin_traffic {
    moved_bytes encoded, decoded, added;
};

/// One vector through the host's compressor and the device's: same bytes, same values. Both take the state along. `offset` floats behind an
/// address divisible by 256.
template <class Compressor>
twin_traffic check_twin(Compressor& host, Compressor& device, std::vector<float> const& dense, std::size_t offset) {
    std::size_t const count = dense.size(), bytes = host.max_wire_bytes(count);
    std::vector<std::byte> expected(bytes);
    REQUIRE(host.encode(dense, expected) == bytes);
    device_buffer<float> const on_device{dense, offset};
    device_buffer<std::byte> const wire{bytes};
    device_buffer<std::uint32_t> const refused{std::vector<std::uint32_t>(1)};
    test_stream const stream;
    twin_traffic traffic;
    auto const since = [last = moved()]() mutable {
        moved_bytes const now = moved(), before = std::exchange(last, now);
        return moved_bytes{now.read - before.read, now.written - before.written, now.kernels - before.kernels};
    };
    auto counted = since;
    counted();
    REQUIRE(chorus::cuda::encode(device, on_device.read(), wire.span(), stream) == bytes);
    auto const made = wire.values(stream);
    traffic.encoded = counted();
    REQUIRE(failure() == "");
    REQUIRE(made == expected);

    std::vector<float> values(count), sums = hard_floats(count, 99, false);
    device_buffer<float> const decoded{count, offset}, added{sums, offset};
    host.decode(expected, values);
    host.decode_add(expected, sums);
    chorus::cuda::decode(device, wire.read(), decoded.span(), refused.data(), stream);
    REQUIRE(same_floats(decoded.values(stream), values));
    traffic.decoded = counted();
    chorus::cuda::decode_add(device, wire.read(), added.span(), refused.data(), stream);
    REQUIRE(same_floats(added.values(stream), sums));
    traffic.added = counted();
    REQUIRE(refused.values()[0] == 0);
    REQUIRE(failure() == "");
    return traffic;
}

/// A cast to 16 bits: the host's bytes, and no byte moved that need not be.
template <class Cast> void check_cast() {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        begin(seed);
        std::size_t const count = seed < 20 ? seed : 61 * (seed - 19);
        Cast host, device;
        if (seed % 3 == 0) host.on_nonfinite = device.on_nonfinite = chorus::nonfinite::sanitise;
        auto const moved = check_twin(host, device, hard_floats(count, seed, true), seed % 5);
        CHECK(moved.encoded.read == 4 * count);
        CHECK(moved.encoded.written == 16 + 2 * count);
        CHECK(moved.decoded.read % 16 == 2 * count % 16);  // and the header, once for each block of threads
        CHECK(moved.decoded.read <= 2 * count + 16 * 8);
        CHECK(moved.decoded.written == 4 * count);
        CHECK(moved.added.read == moved.decoded.read + 4 * count);
        CHECK(moved.added.written == 4 * count);
    }
}

/// Another header: counted, and nothing is touched. Another length, or a wire that lies askew: refused at once.
template <class Compressor> void check_refusals(Compressor compressor) {
    begin(1);
    std::vector<float> const dense(40, 1.5f), before(40, 7.0f);
    std::size_t const bytes = compressor.max_wire_bytes(40);
    std::vector<std::byte> message(bytes);
    compressor.encode(dense, message);
    message[8] = std::byte{41};
    device_buffer<std::byte> const wire{message};
    device_buffer<float> const out{before};
    device_buffer<std::uint32_t> const refused{std::vector<std::uint32_t>(1)};
    chorus::cuda::decode(compressor, wire.read(), out.span(), refused.data(), nullptr);
    chorus::cuda::decode_add(compressor, wire.read(), out.span(), refused.data(), nullptr);
    CHECK(out.values() == before);
    CHECK(refused.values()[0] == 2);
    CHECK_THROWS_AS(chorus::cuda::decode(compressor, wire.read().first(bytes - 1), out.span(), refused.data(), nullptr), chorus::error);
    device_buffer<std::byte> const askew{bytes, 4};
    CHECK_THROWS_AS(chorus::cuda::encode(compressor, out.read(), askew.span(), nullptr), chorus::error);
    CHECK_THROWS_AS(chorus::cuda::encode(compressor, out.read(), wire.span().first(bytes - 1), nullptr), chorus::error);
    compressor.on_nonfinite = chorus::nonfinite::refuse;
    CHECK_THROWS_AS(chorus::cuda::encode(compressor, out.read(), wire.span(), nullptr), chorus::error);
    CHECK(failure() == "");
}

}  // namespace cuda_on_cpu
