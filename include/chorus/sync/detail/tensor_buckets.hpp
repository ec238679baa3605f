// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace chorus::detail {

/// Tensors that lie one after another in the order given and travel as one message.
struct tensor_bucket {
    std::size_t first;    ///< tensor
    std::size_t tensors;
    std::size_t begin;    ///< of its memory, in elements, among all buckets that need some
    std::size_t count;    ///< elements
    bool is_direct;       ///< one tensor, which is averaged in its own memory
};

/// Cuts a model's tensors into buckets, from the last tensor to the first, as a backward pass makes gradients ready. A bucket is full when the next tensor would
/// exceed the limit; larger tensors are alone. Depends on the counts alone, so all ranks cut alike.
class tensor_buckets {
 public:
    tensor_buckets(std::span<std::size_t const> counts, std::size_t limit, bool lone_ones_are_direct) : bucket_of_(counts.size()), offset_of_(counts.size()) {
        for (std::size_t end = counts.size(); end > 0;) {
            std::size_t first = end - 1, total = counts[first];
            while (first > 0 && total + counts[first - 1] <= limit) total += counts[--first];
            bool const is_direct = lone_ones_are_direct && end - first == 1;
            add({first, end - first, memory_, total, is_direct}, counts);
            end = first;
        }
    }

    std::size_t size() const noexcept { return buckets_.size(); }
    tensor_bucket const& operator[](std::size_t b) const noexcept { return buckets_[b]; }
    std::size_t bucket_of(std::size_t tensor) const noexcept { return bucket_of_[tensor]; }

    /// Where the tensor begins in its bucket.
    std::size_t offset_of(std::size_t tensor) const noexcept { return offset_of_[tensor]; }

    /// Elements of all buckets that are not direct.
    std::size_t memory() const noexcept { return memory_; }

 private:
    void add(tensor_bucket const& made, std::span<std::size_t const> counts) {
        std::size_t at = 0;
        for (std::size_t i = made.first; i < made.first + made.tensors; ++i) {
            bucket_of_[i] = buckets_.size();
            offset_of_[i] = at;
            at += counts[i];
        }
        if (!made.is_direct) memory_ += made.count;
        buckets_.push_back(made);
    }

    std::vector<tensor_bucket> buckets_;
    std::vector<std::size_t> bucket_of_, offset_of_;
    std::size_t memory_ = 0;
};

}  // namespace chorus::detail
