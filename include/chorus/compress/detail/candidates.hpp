// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/base/random.hpp"
#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/magnitude.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace chorus::detail {

/// Of some values, the magnitude that the k-th largest has, and how many are larger than it.
struct kth_magnitude {
    magnitude size = 0;
    std::size_t larger = 0;
};

/// 1 ≤ k ≤ values.size(). Three passes by radix: the upper 11 bits of 31, then 10, then 10.
inline kth_magnitude find_kth_magnitude(std::span<float const> values, std::size_t k) noexcept {
    kth_magnitude found;
    unsigned shift = 31;
    for (unsigned bits : {11u, 10u, 10u}) {
        std::array<std::uint32_t, 2048> bins{};
        unsigned const known = shift;
        shift -= bits;
        std::uint32_t const mask = (1u << bits) - 1;
        for (float value : values) {
            magnitude const size = magnitude_of(value);
            bins[size >> shift & mask] += size >> known == found.size >> known;
        }
        std::uint32_t bin = mask;
        for (; found.larger + bins[bin] < k; --bin) found.larger += bins[bin];
        found.size |= bin << shift;
    }
    return found;
}

/// How many entries may be sent where k are wanted.
struct kept_bounds {
    std::size_t least;
    std::size_t wanted;
    std::size_t most;
};

/// Entries picked from a vector in the order of their indices, cut back to the largest whenever they become too many. A copy begins empty.
class candidates {
 public:
    candidates() = default;
    candidates(candidates const&) noexcept {}
    candidates& operator=(candidates const&) noexcept { return *this; }
    candidates(candidates&&) noexcept = default;
    candidates& operator=(candidates&&) noexcept = default;

    /// Makes room for picks among `count` elements that are cut back to no fewer than k, and for a sample of `sampled`. Allocates where it never had as much.
    void reserve(std::size_t k, std::size_t count, std::size_t sampled = 0) {
        room_ = (std::max)((std::min)(2 * k, count) + block, sampled);
        memory_.grow(2 * 4 * (room_ + slack));
        size_ = 0;
    }

    std::uint32_t const* indices() const noexcept { return reinterpret_cast<std::uint32_t const*>(memory_.data()); }
    std::span<float const> values() const noexcept { return {reinterpret_cast<float const*>(memory_.data() + 4 * (room_ + slack)), size_}; }
    std::size_t size() const noexcept { return size_; }
    void clear() noexcept { size_ = 0; }

    /// Of `sampled` elements, one drawn from each of as many equal stretches, the magnitude of the `rank`-th largest, 1 ≤ rank ≤ sampled ≤ dense.size().
    magnitude sample(std::span<float const> dense, std::size_t sampled, std::size_t rank, nonfinite policy) noexcept {
        counter_random const random{0x5A3D};
        std::size_t const stretch = dense.size() / sampled;
        constexpr std::size_t together = 64;  // are asked for before they are read, as they lie far apart
        std::array<float const*, together> drawn;
        for (std::size_t i = 0; i < sampled; i += together) {
            std::size_t const many = (std::min)(together, sampled - i);
            for (std::size_t j = 0; j < many; ++j) {
                drawn[j] = dense.data() + (i + j) * stretch + random.below(i + j, stretch);
                __builtin_prefetch(drawn[j]);
            }
            for (std::size_t j = 0; j < many; ++j) picked()[i + j] = policy == nonfinite::sanitise ? sanitised(*drawn[j]) : *drawn[j];
        }
        return find_kth_magnitude({picked(), sampled}, rank).size;
    }

    /// Adds all elements from a magnitude on, `from` ≤ infinity. Where they become too many, only the k largest so far are kept, and no further ones but larger
    /// ones. So in the end there are all from `from` on, or the size() ≥ k largest, of equals the first ones.
    void gather(std::span<float const> dense, magnitude from, std::size_t k, nonfinite policy) noexcept {
        for (std::size_t at = 0; at < dense.size(); at += block) {
            if (size_ + block > room_) from = keep_largest(k) + 1;
            gather_block(dense.subspan(at, (std::min)(block, dense.size() - at)), static_cast<std::uint32_t>(at), from, policy);
        }
    }

    /// Gathers anew from `from`, then from each `lower(from, entries that this gave)`, until there are at least `bounds.least`; more than `bounds.most` are cut
    /// back to the wanted number. The last attempt, if `corrections` were not enough, has no lower limit. One pass for each.
    template <class Lower>
    void gather_within(std::span<float const> dense, magnitude from, kept_bounds bounds, int corrections, nonfinite policy, Lower const& lower) noexcept {
        gather(dense, from, bounds.wanted, policy);
        while (size_ < bounds.least) {
            magnitude const next = corrections-- > 0 ? lower(from, size_) : 0;
            from = next < from ? next : 0;
            clear();
            gather(dense, from, bounds.wanted, policy);
        }
        if (size_ > bounds.most) keep_largest(bounds.wanted);
    }

    /// Up to `block` elements, for which there must be room; `index` is that of the first.
    void gather_block(std::span<float const> part, std::uint32_t index, magnitude from, nonfinite policy) noexcept {
        bool const cleans = policy == nonfinite::sanitise;  // NaN counts as 0, infinity as finite
        magnitude const last = cleans && from != 0 ? infinite_magnitude : largest_magnitude;
        if (from > (cleans ? largest_finite_magnitude : largest_magnitude)) return;
        std::size_t const before = size_;
        collect_(part.data(), part.size(), index, {from, last}, places(), picked(), &size_);
        if (cleans) std::transform(picked() + before, picked() + size_, picked() + before, &sanitised);
    }

    /// Drops all but the k largest, 1 ≤ k ≤ size(); of equals the first are kept. Returns the smallest magnitude left.
    magnitude keep_largest(std::size_t k) noexcept {
        kth_magnitude const kth = find_kth_magnitude(values(), k);
        std::size_t equals = k - kth.larger, kept = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            magnitude const here = magnitude_of(picked()[i]);
            bool const is_equal = here == kth.size && equals != 0;
            places()[kept] = places()[i];
            picked()[kept] = picked()[i];
            kept += here > kth.size || is_equal;
            equals -= is_equal;
        }
        size_ = kept;
        return kth.size;
    }

    static constexpr std::size_t block = 4096;

 private:
    static constexpr std::size_t slack = 16;  ///< that collect_kernel may overwrite

    std::uint32_t* places() noexcept { return reinterpret_cast<std::uint32_t*>(memory_.data()); }
    float* picked() noexcept { return reinterpret_cast<float*>(memory_.data() + 4 * (room_ + slack)); }

    byte_buffer memory_;
    std::size_t room_ = 0;
    std::size_t size_ = 0;
    collect_kernel::function collect_ = versions<collect_kernel, collect_kernel::function>::choose(current_instruction_set());
};

}  // namespace chorus::detail
