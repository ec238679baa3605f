// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace chorus::detail {

using digest = std::array<std::byte, 32>;

/// SHA-256 of FIPS 180-4, over bytes given in any number of pieces.
class sha256 {
 public:
    void add(std::span<std::byte const> bytes) noexcept {
        for (std::byte b : bytes) add(b);
    }

    /// To be called once, last.
    digest finish() noexcept {
        std::uint64_t const bits = length_ * 8;
        add(std::byte{0x80});
        while (length_ % 64 != 56) add(std::byte{0});
        for (int shift = 56; shift >= 0; shift -= 8) add(static_cast<std::byte>(bits >> shift));
        digest result{};
        for (std::size_t i = 0; i < result.size(); ++i)
            result[i] = static_cast<std::byte>(state_[i / 4] >> (24 - i % 4 * 8));
        return result;
    }

 private:
    void add(std::byte b) noexcept {
        block_[length_++ % 64] = b;
        if (length_ % 64 == 0) mix_block();
    }

    void mix_block() noexcept {
        std::array<std::uint32_t, 64> w{};
        for (std::size_t i = 0; i < 64; ++i) w[i / 4] = w[i / 4] << 8 | std::to_integer<std::uint32_t>(block_[i]);
        for (std::size_t i = 16; i < 64; ++i) {
            std::uint32_t const low = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
            std::uint32_t const high = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16] + low + w[i - 7] + high;
        }
        auto [a, b, c, d, e, f, g, h] = state_;
        for (std::size_t i = 0; i < 64; ++i) {
            std::uint32_t const first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                                        ((e & f) ^ (~e & g)) + constants[i] + w[i];
            std::uint32_t const second =
                (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + first;
            d = c;
            c = b;
            b = a;
            a = first + second;
        }
        std::array<std::uint32_t, 8> const more{a, b, c, d, e, f, g, h};
        for (std::size_t i = 0; i < 8; ++i) state_[i] += more[i];
    }

    static constexpr std::array<std::uint32_t, 64> constants{
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::byte, 64> block_{};
    std::uint64_t length_ = 0;
};

/// HMAC-SHA-256 (RFC 2104): who does not know the key can neither make it nor learn the key from it.
inline digest keyed_digest(std::string_view key, std::span<std::byte const> message) noexcept {
    std::array<std::byte, 64> block{};
    auto const key_bytes = std::as_bytes(std::span{key.data(), key.size()});
    if (key.size() > block.size()) {
        sha256 shorter;
        shorter.add(key_bytes);
        digest const hashed = shorter.finish();
        std::copy(hashed.begin(), hashed.end(), block.begin());
    } else {
        std::copy(key_bytes.begin(), key_bytes.end(), block.begin());
    }
    auto const masked = [&](std::byte mask) {
        std::array<std::byte, 64> pad = block;
        for (std::byte& b : pad) b ^= mask;
        return pad;
    };
    sha256 inner;
    inner.add(masked(std::byte{0x36}));
    inner.add(message);
    sha256 outer;
    outer.add(masked(std::byte{0x5C}));
    outer.add(inner.finish());
    return outer.finish();
}

/// Takes as long for equal digests as for different ones.
inline bool is_same(digest const& left, digest const& right) noexcept {
    std::byte differing{0};
    for (std::size_t i = 0; i < left.size(); ++i) differing |= left[i] ^ right[i];
    return differing == std::byte{0};
}

}  // namespace chorus::detail
