// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/compress/detail/sparse_merge.hpp"
#include "chorus/compress/detail/sparse_wire.hpp"
#include "chorus/compress/uncompressed.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::detail {

inline constexpr std::string_view sparse_sum = "sparse all_reduce";

/// A vector of which most elements are zero, on its way through a sum: entries while they are few, all elements once entries would take more bytes.
/// Memory grows to the largest that was seen and is kept.
class sparse_vector {
 public:
    /// Entries take 8 bytes, elements 4.
    static constexpr bool is_dearer_sparse(std::size_t entries, std::size_t count) noexcept { return 2 * entries > count; }

    std::size_t count() const noexcept { return count_; }
    bool is_dense() const noexcept { return is_dense_; }
    sparse_entries entries() const noexcept { return {indices_, values_}; }

    void reset(std::size_t count) {
        count_ = count;
        is_dense_ = false;
        indices_.clear();
        values_.clear();
    }

    /// From a message of a sparsifier for `count` elements, or of `write`. Raises `corrupt` for others.
    void read(std::span<std::byte const> message, std::size_t count) {
        reset(count);
        if (!message.empty() && message[0] == static_cast<std::byte>(wire_format::uncompressed)) {
            become_dense();
            return uncompressed{}.decode(message, values_);
        }
        auto const whole = sparse_message::read(message, count, sparse_sum);
        if (whole.is_all_nan()) {
            become_dense();
            return whole.decode(values_);
        }
        indices_.resize(whole.entries());
        values_.resize(whole.entries());
        whole.copy(indices_.data(), values_.data());
        if (is_dearer_sparse(indices_.size(), count_)) become_dense();
    }

    /// left + right, element by element; `other` is the right one if `is_left`.
    void add(sparse_vector const& other, bool is_left) {
        if (!is_dense_ && !other.is_dense_) return merge(other, is_left);
        become_dense();
        if (other.is_dense_)
            for (std::size_t i = 0; i < count_; ++i) values_[i] += other.values_[i];
        else
            for (std::size_t k = 0; k < other.indices_.size(); ++k) values_[other.indices_[k]] += other.values_[k];
    }

    std::size_t message_bytes() const noexcept {
        return is_dense_ ? uncompressed{}.max_wire_bytes(count_) : sparse_wire::max_bytes(index_layout::plain, indices_.size(), count_);
    }
    void write(std::span<std::byte> message) const {
        if (is_dense_) {
            uncompressed{}.encode(values_, message);
            return;
        }
        sparse_writer writer{message, index_layout::plain, indices_.size(), count_};
        writer.add(indices_, values_);
        writer.finish();
    }

    /// Overwrites all of `out`, of count() elements.
    void store(std::span<float> out) const noexcept {
        if (is_dense_) {
            std::copy(values_.begin(), values_.end(), out.begin());
            return;
        }
        std::fill(out.begin(), out.end(), 0.0f);
        for (std::size_t k = 0; k < indices_.size(); ++k) out[indices_[k]] = values_[k];
    }

    /// The part from element `begin` to before `end`, numbered from 0.
    void cut(sparse_vector& part, std::size_t begin, std::size_t end) const {
        part.reset(end - begin);
        if (is_dense_) {
            part.is_dense_ = true;
            part.values_.assign(values_.begin() + static_cast<std::ptrdiff_t>(begin), values_.begin() + static_cast<std::ptrdiff_t>(end));
            return;
        }
        auto at = std::lower_bound(indices_.begin(), indices_.end(), begin);
        for (; at != indices_.end() && *at < end; ++at) {
            part.indices_.push_back(*at - static_cast<std::uint32_t>(begin));
            part.values_.push_back(values_[static_cast<std::size_t>(at - indices_.begin())]);
        }
        if (is_dearer_sparse(part.indices_.size(), part.count_)) part.become_dense();
    }

 private:
    void become_dense() {
        if (std::exchange(is_dense_, true)) return;
        std::vector<float>& all = scratch_values_;
        all.assign(count_, 0.0f);
        for (std::size_t k = 0; k < indices_.size(); ++k) all[indices_[k]] = values_[k];
        std::swap(values_, all);
        indices_.clear();
    }

    void merge(sparse_vector const& other, bool is_left) {
        std::size_t const room = indices_.size() + other.indices_.size();
        scratch_indices_.resize(room);
        scratch_values_.resize(room);
        auto const left = is_left ? entries() : other.entries();
        auto const right = is_left ? other.entries() : entries();
        std::size_t const many = merge_add(left, right, scratch_indices_.data(), scratch_values_.data());
        scratch_indices_.resize(many);
        scratch_values_.resize(many);
        std::swap(indices_, scratch_indices_);
        std::swap(values_, scratch_values_);
        if (is_dearer_sparse(many, count_)) become_dense();
    }

    std::size_t count_ = 0;
    bool is_dense_ = false;
    std::vector<std::uint32_t> indices_;  // of the entries, ascending; empty when dense
    std::vector<float> values_;           // of the entries, or all
    std::vector<std::uint32_t> scratch_indices_;
    std::vector<float> scratch_values_;
};

}  // namespace chorus::detail
