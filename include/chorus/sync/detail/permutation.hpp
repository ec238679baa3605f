// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"

#include <cstdint>

namespace chorus::detail {

/// A shuffled order of 0 … count - 1 that is computed, not kept: at(i) is the i-th number in it, O(1) time (24 hashes on average at most) and no memory.
///
/// A Feistel network of six rounds over the smallest power of two that holds `count`, walked until it comes below `count` (Black and Rogaway, "Ciphers with
/// arbitrary finite domains", CT-RSA 2002): a bijection for any count, and the same on all ranks and machines.
class permutation {
 public:
    permutation(std::uint64_t count, counter_random const& random) noexcept : random_{random}, count_{count} {
        while (bits_ < 64 && (std::uint64_t{1} << bits_) < count) ++bits_;
    }

    std::uint64_t at(std::uint64_t place) const noexcept {
        if (count_ < 2) return place;
        do place = through(place);
        while (place >= count_);
        return place;
    }

 private:
    static constexpr std::uint64_t lowest(unsigned bits) noexcept { return bits == 0 ? 0 : ~std::uint64_t{0} >> (64 - bits); }

    std::uint64_t through(std::uint64_t value) const noexcept {
        unsigned left_bits = bits_ / 2, right_bits = bits_ - left_bits;
        std::uint64_t left = value >> right_bits, right = value & lowest(right_bits);
        for (std::uint64_t round = 0; round < 6; ++round) {
            std::uint64_t const next = left ^ (random_.bits(right * 8 + round) & lowest(left_bits));
            left = right;
            right = next;
            unsigned const bits = left_bits;
            left_bits = right_bits;
            right_bits = bits;
        }
        return left << right_bits | right;
    }

    counter_random random_;
    std::uint64_t count_;
    unsigned bits_ = 1;
};

}  // namespace chorus::detail
