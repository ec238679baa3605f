// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace chorus::detail {

/// Several spans numbered through, as if they lay one behind the other.
template <class Element>
class joined_spans {
 public:
    explicit joined_spans(std::vector<std::span<Element>> parts) {
        for (std::span<Element> part : parts)
            if (!part.empty()) {
                parts_.push_back(part);
                ends_.push_back(count_ += part.size());
            }
    }

    std::uint64_t size() const noexcept { return count_; }

    Element& operator[](std::uint64_t index) const noexcept {
        if (parts_.size() == 1) return parts_.front()[static_cast<std::size_t>(index)];
        auto const part = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin());
        return parts_[part][static_cast<std::size_t>(index - ends_[part] + parts_[part].size())];
    }

    std::vector<std::span<Element>> const& parts() const noexcept { return parts_; }

 private:
    std::vector<std::span<Element>> parts_;
    std::vector<std::uint64_t> ends_;
    std::uint64_t count_ = 0;
};

}  // namespace chorus::detail
