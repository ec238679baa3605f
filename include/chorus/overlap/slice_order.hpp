// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace chorus {

/// A piece of one layer: elements first … first + count - 1.
struct slice {
    std::size_t layer = 0;
    std::size_t first = 0;
    std::size_t count = 0;

    friend constexpr bool operator==(slice const&, slice const&) = default;
};

/// Layers cut into slices, and which slice goes next: of the layers that are ready on all ranks always the first, so that a layer that becomes ready goes
/// before what is left of later ones. A pure function of what was agreed: ranks that grant the same sets in the same order have the same order.
///
/// slices: ceil(count / largest) of a layer, all of `largest` elements but the last; none of an empty layer | grant allocates nothing
/// Source: P3, priority-based parameter propagation (Jayarajan et al., 2019).
class slice_order {
 public:
    slice_order() = default;

    /// counts: elements of each layer.
    slice_order(std::span<std::size_t const> counts, std::size_t largest) {
        detail::expects(largest > 0, [] { return "slices of at most 0 elements"; });
        for (std::size_t layer = 0; layer < counts.size(); ++layer) {
            begin_.push_back(slices_.size());
            for (std::size_t first = 0; first < counts[layer]; first += largest)
                slices_.push_back({layer, first, counts[layer] - first < largest ? counts[layer] - first : largest});
        }
        next_ = begin_;
        begin_.push_back(slices_.size());
        order_.reserve(slices_.size());
    }

    std::size_t layers() const noexcept { return next_.size(); }

    /// By layer, and within it by place.
    std::span<slice const> slices() const noexcept { return slices_; }

    /// The number of the layer's first slice; begin(layers()) is the number of slices.
    std::size_t begin(std::size_t layer) const { return begin_.at(layer); }
    std::size_t slices_of(std::size_t layer) const { return begin(layer + 1) - begin(layer); }

    /// The numbers of the slices granted since the last `restart`, in order.
    std::span<std::size_t const> order() const noexcept { return order_; }

    /// Grants up to `many` more. Bit l % 64 of ready[l / 64] says that layer l is ready on all ranks. Returns how many there were to grant.
    std::size_t grant(std::span<std::uint64_t const> ready, std::size_t many) {
        std::size_t granted = 0;
        for (std::size_t layer = 0; layer < layers() && granted < many; ++layer) {
            if ((ready[layer / 64] >> layer % 64 & 1) == 0) continue;
            for (; next_[layer] < begin_[layer + 1] && granted < many; ++granted) order_.push_back(next_[layer]++);
        }
        return granted;
    }

    /// As if nothing had been granted.
    void restart() noexcept {
        for (std::size_t layer = 0; layer < layers(); ++layer) next_[layer] = begin_[layer];
        order_.clear();
    }

 private:
    std::vector<slice> slices_;
    std::vector<std::size_t> begin_;  // layer -> its first slice
    std::vector<std::size_t> next_;   // layer -> its first slice that is not granted
    std::vector<std::size_t> order_;
};

}  // namespace chorus
