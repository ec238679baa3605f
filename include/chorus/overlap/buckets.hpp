// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/base/check.hpp"
#include "chorus/data/element.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// Which tensors travel together: a pure function of their counts, so the same on all ranks.
///
/// Gradients arrive from the last tensor to the first, so buckets are filled from the last: each takes the tensors before the one it ends with for as long as they fit;
/// a tensor that is larger than a bucket has one of its own. Every tensor is in exactly one bucket. Bucket 0 is complete first.
struct bucket_layout {
    /// Tensors first … last - 1, in this order in memory.
    struct bucket {
        std::size_t first = 0;
        std::size_t last = 0;
        std::size_t count = 0;  ///< elements

        friend constexpr bool operator==(bucket const&, bucket const&) = default;
    };

    std::vector<bucket> buckets;

    /// At most `largest` elements in a bucket of more than one tensor.
    static bucket_layout of(std::span<std::size_t const> counts, std::size_t largest) {
        bucket_layout made;
        for (std::size_t tensor = counts.size(); tensor-- > 0;) {
            bool const fits = !made.buckets.empty() && made.buckets.back().count <= largest && counts[tensor] <= largest - made.buckets.back().count;
            if (!fits) made.buckets.push_back({tensor, tensor + 1, 0});
            made.buckets.back().first = tensor;
            made.buckets.back().count += counts[tensor];
        }
        return made;
    }

    /// The bucket that the tensor is in. O(log buckets).
    std::size_t of_tensor(std::size_t tensor) const {
        auto const found = std::partition_point(buckets.begin(), buckets.end(), [&](bucket const& b) { return b.first > tensor; });
        return static_cast<std::size_t>(found - buckets.begin());
    }

    friend bool operator==(bucket_layout const&, bucket_layout const&) = default;
};

/// Tensors packed into buckets. A bucket whose tensors lie one after another in memory is a view of them; the others have scratch, into which `ready` packs
/// and from which `unpack` copies back. Where a bucket lies is this rank's affair; what is in it is equal on all ranks with equal counts.
///
///     for (tensor = last … 0) { /* backward */ if (auto full = packed.ready(tensor)) plans[*full].start(); }
///     for (bucket …) { plans[bucket].wait(); packed.unpack(bucket); }
///
/// local | the caller owns the tensors, which must stay in place; not be touched from `ready` until `unpack` | scratch: the elements of buckets that are no views |
/// allocates nothing once made | may be moved: spans stay valid
template <element Element>
class buckets {
 public:
    /// bytes: at most so many in a bucket of more than one tensor. Tensors must not overlap.
    explicit buckets(std::vector<std::span<Element>> tensors, std::size_t bytes = std::size_t{4} << 20) : tensors_{std::move(tensors)}, is_ready_(tensors_.size(), 0) {
        expect_apart();
        std::vector<std::size_t> counts;
        for (std::span<Element> const tensor : tensors_) counts.push_back(tensor.size());
        layout_ = bucket_layout::of(counts, bytes / sizeof(Element));
        place();
    }

    bucket_layout const& layout() const noexcept { return layout_; }
    std::size_t size() const noexcept { return layout_.buckets.size(); }

    /// The elements of a bucket: what is to be reduced.
    std::span<Element> operator[](std::size_t bucket) const { return places_.at(bucket).memory; }
    std::vector<std::span<Element>> spans() const {
        std::vector<std::span<Element>> all;
        for (placement const& each : places_) all.push_back(each.memory);
        return all;
    }

    /// Whether the bucket is the tensors themselves.
    bool is_view(std::size_t bucket) const { return places_.at(bucket).is_view; }

    /// The tensor holds this rank's part; it is packed. Returns the bucket if that is complete now. Once per tensor until the bucket is unpacked.
    std::optional<std::size_t> ready(std::size_t tensor) {
        detail::expects(tensor < tensors_.size(), [&] { return "buckets: tensor " + std::to_string(tensor) + " of " + std::to_string(tensors_.size()); });
        detail::expects(!std::exchange(is_ready_[tensor], char{1}), [&] { return "buckets: tensor " + std::to_string(tensor) + " is ready twice; its bucket was not unpacked"; });
        std::size_t const number = layout_.of_tensor(tensor);
        placement& at = places_[number];
        if (!at.is_view) copy(packed(number, tensor), tensors_[tensor]);
        if (--at.missing > 0) return std::nullopt;
        return number;
    }

    /// Its tensors hold what the bucket holds, and may become ready again. The bucket must be complete.
    void unpack(std::size_t bucket) {
        placement& at = places_.at(bucket);
        detail::expects(at.missing == 0, [&] { return "buckets: bucket " + std::to_string(bucket) + " lacks " + std::to_string(at.missing) + " tensors and is unpacked"; });
        auto const [first, last, count] = layout_.buckets[bucket];
        for (std::size_t tensor = first; tensor < last; ++tensor) {
            if (!at.is_view) copy(tensors_[tensor], packed(bucket, tensor));
            is_ready_[tensor] = 0;
        }
        at.missing = last - first;
    }

 private:
    struct placement {
        std::span<Element> memory;
        bool is_view = false;
        std::size_t missing = 0;  // tensors
    };

    void expect_apart() const {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i < tensors_.size(); ++i)
            if (!tensors_[i].empty()) order.push_back(i);
        std::less<Element const*> const before{};
        std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return before(tensors_[a].data(), tensors_[b].data()); });
        for (std::size_t i = 1; i < order.size(); ++i) {
            std::span<Element> const lower = tensors_[order[i - 1]];
            detail::expects(!before(tensors_[order[i]].data(), lower.data() + lower.size()), [&] {
                return "buckets: tensors " + std::to_string(order[i - 1]) + " and " + std::to_string(order[i]) + " overlap";
            });
        }
    }

    void place() {
        std::size_t scratch = 0;
        for (auto const& [first, last, count] : layout_.buckets) {
            places_.push_back({view_of(first, last, count), true, last - first});
            places_.back().is_view = places_.back().memory.size() == count;
            if (!places_.back().is_view) scratch += count;
        }
        scratch_.grow(scratch * sizeof(Element));
        auto* free = reinterpret_cast<Element*>(scratch_.data());
        for (std::size_t b = 0; b < size(); ++b)
            if (!places_[b].is_view) places_[b].memory = {std::exchange(free, free + layout_.buckets[b].count), layout_.buckets[b].count};
    }

    /// The tensors as one span; a shorter one if they do not lie one after another.
    std::span<Element> view_of(std::size_t first, std::size_t last, std::size_t count) const {
        std::span<Element> joined;
        for (std::size_t tensor = first; tensor < last; ++tensor) {
            std::span<Element> const next = tensors_[tensor];
            if (next.empty()) continue;
            if (joined.empty()) joined = next;
            else if (joined.data() + joined.size() == next.data()) joined = {joined.data(), joined.size() + next.size()};
            else return {};
        }
        return joined.size() == count ? joined : std::span<Element>{};
    }

    std::span<Element> packed(std::size_t bucket, std::size_t tensor) const {
        std::size_t at = 0;
        for (std::size_t before = layout_.buckets[bucket].first; before < tensor; ++before) at += tensors_[before].size();
        return places_[bucket].memory.subspan(at, tensors_[tensor].size());
    }

    static void copy(std::span<Element> to, std::span<Element> from) {
        if (!from.empty()) std::memcpy(to.data(), from.data(), from.size_bytes());
    }

    std::vector<std::span<Element>> tensors_;
    std::vector<char> is_ready_;
    bucket_layout layout_;
    std::vector<placement> places_;
    byte_buffer scratch_;
};

}  // namespace chorus
