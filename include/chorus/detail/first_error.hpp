// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/base/types.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>

namespace chorus::detail {

/// The reason of an abort: the first `set` wins, from any thread, without allocation; texts are cut at 1000 bytes.
class first_error {
 public:
    void set(errc code, rank_id blamed, std::string_view why) noexcept {
        int expected = unset;
        if (!state_.compare_exchange_strong(expected, writing, std::memory_order_acquire)) return;
        code_ = code;
        blamed_ = blamed;
        bytes_ = (std::min)(why.size(), text_.size());
        std::copy_n(why.data(), bytes_, text_.data());
        state_.store(ready, std::memory_order_release);
    }

    bool is_set() const noexcept { return state_.load(std::memory_order_acquire) == ready; }

    /// As new. No other thread may call anything meanwhile.
    void clear() noexcept { state_.store(unset, std::memory_order_release); }

    /// Precondition: is_set().
    error get() const { return error{code_, std::string{text_.data(), bytes_}, blamed_}; }

 private:
    enum : int { unset, writing, ready };

    std::atomic<int> state_{unset};
    errc code_ = errc::aborted;
    rank_id blamed_ = nobody;
    std::size_t bytes_ = 0;
    std::array<char, 1000> text_{};
};

}  // namespace chorus::detail
