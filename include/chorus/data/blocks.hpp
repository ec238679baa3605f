// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// A cut of n elements into blocks that are contiguous, disjoint, in order and cover all; a block may be empty.
/// Offsets and lengths are counted in elements, in 64 bits.
class blocks {
 public:
    blocks() = default;

    /// `count` elements into `parts` near-equal blocks: the first count % parts of them have one element more.
    static constexpr blocks near_equal(std::uint64_t count, rank_id parts) {
        blocks cut;
        cut.count_ = count;
        cut.parts_ = parts;
        return cut;
    }

    /// One block per entry, of that many elements. Throws `too_large` if the sum does not fit in 64 bits.
    static blocks of_counts(std::span<std::uint64_t const> counts) {
        blocks cut;
        cut.parts_ = static_cast<rank_id>(counts.size());
        cut.ends_.reserve(counts.size());
        for (std::uint64_t count : counts) {
            if (count > (std::numeric_limits<std::uint64_t>::max)() - cut.count_)
                detail::raise(errc::too_large, "the sum of the block counts does not fit in 64 bits");
            cut.count_ += count;
            cut.ends_.push_back(cut.count_);
        }
        return cut;
    }

    constexpr rank_id parts() const noexcept { return parts_; }
    constexpr std::uint64_t count() const noexcept { return count_; }

    /// First element of block b, 0 <= b <= parts; begin(parts) is count.
    constexpr std::uint64_t begin(rank_id b) const noexcept {
        if (!ends_.empty()) return b == 0 ? 0 : ends_[b - 1];
        if (parts_ == 0) return 0;
        std::uint64_t const extra = count_ % parts_;
        return b * (count_ / parts_) + (b < extra ? b : extra);
    }

    /// Elements in blocks first … first + many - 1.
    constexpr std::uint64_t length(rank_id first, rank_id many = 1) const noexcept {
        return begin(first + many) - begin(first);
    }

 private:
    std::uint64_t count_ = 0;
    rank_id parts_ = 0;
    std::vector<std::uint64_t> ends_;  // empty: near-equal, computed
};

}  // namespace chorus
