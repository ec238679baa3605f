// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/config.hpp"

#include <cstdint>

namespace chorus {

/// Counter-based random bits: a pure function of (seed, stream, counter), so every rank and platform that asks for
/// the same triple gets the same number, in any order and from any thread. The mixer is SplitMix64's finaliser
/// (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014), applied three times.
class counter_random {
 public:
    constexpr CHORUS_HOST_DEVICE explicit counter_random(std::uint64_t seed, std::uint64_t stream = 0) noexcept
        : key_{mix(mix(seed + golden) ^ (stream * golden + 1))} {}

    /// 64 uniform bits for this counter.
    constexpr CHORUS_HOST_DEVICE std::uint64_t bits(std::uint64_t counter) const noexcept {
        return mix(key_ ^ mix(counter * golden + 0x632BE59BD9B4E019u));
    }

    /// Uniform in [0, 1), 53 bits.
    constexpr CHORUS_HOST_DEVICE double unit(std::uint64_t counter) const noexcept {
        return static_cast<double>(bits(counter) >> 11) * 0x1.0p-53;
    }

    /// Uniform in [0, bound), bound > 0; the bias is below bound / 2^64.
    constexpr CHORUS_HOST_DEVICE std::uint64_t below(std::uint64_t counter, std::uint64_t bound) const noexcept {
        std::uint64_t const random = bits(counter);
        std::uint64_t const random_low = random & 0xFFFFFFFFu;
        std::uint64_t const random_high = random >> 32;
        std::uint64_t const bound_low = bound & 0xFFFFFFFFu;
        std::uint64_t const bound_high = bound >> 32;
        std::uint64_t const low = random_low * bound_low;
        std::uint64_t const middle = random_high * bound_low + (low >> 32);
        std::uint64_t const middle_low = (middle & 0xFFFFFFFFu) + random_low * bound_high;
        return random_high * bound_high + (middle >> 32) + (middle_low >> 32);
    }

    static constexpr CHORUS_HOST_DEVICE std::uint64_t mix(std::uint64_t value) noexcept {
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
        return value ^ (value >> 31);
    }

 private:
    static constexpr std::uint64_t golden = 0x9E3779B97F4A7C15u;
    std::uint64_t key_;
};

}  // namespace chorus
