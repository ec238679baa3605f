// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace suites {

/// Elements with 64 guard bytes before and after them. No elements: a null pointer.
template <class T> class guarded {
 public:
    guarded() : guarded{0} {}
    explicit guarded(std::size_t count, std::size_t shift = 0)
        : count_{count}, begin_{guard + shift * sizeof(T)}, memory_(begin_ + count * sizeof(T) + guard, mark) {}

    std::span<T> span() { return {count_ == 0 ? nullptr : reinterpret_cast<T*>(memory_.data() + begin_), count_}; }

    bool is_intact() const {
        auto const marked = [](std::byte b) { return b == mark; };
        auto const begin = memory_.begin() + static_cast<std::ptrdiff_t>(begin_);
        return std::all_of(memory_.begin(), begin, marked) &&
               std::all_of(memory_.end() - static_cast<std::ptrdiff_t>(guard), memory_.end(), marked);
    }

 private:
    static constexpr std::size_t guard = 64;
    static constexpr std::byte mark{0xA5};

    std::size_t count_;
    std::size_t begin_;
    std::vector<std::byte> memory_;
};

}  // namespace suites
