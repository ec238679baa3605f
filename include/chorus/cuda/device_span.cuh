// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/config.hpp"

#include <cstddef>
#include <type_traits>

namespace chorus::cuda {

/// Elements in memory that kernels can reach: an address and a count, owning nothing. Goes to kernels by value. The host does not look
/// through it: the memory may be a device's own.
template <class T> class device_span {
 public:
    constexpr device_span() = default;
    constexpr CHORUS_HOST_DEVICE device_span(T* data, std::size_t count) noexcept : data_{data}, count_{count} {}

    /// A span of T is one of T const.
    template <class Other> requires std::is_same_v<T, Other const>
    constexpr CHORUS_HOST_DEVICE device_span(device_span<Other> other) noexcept : data_{other.data()}, count_{other.size()} {}

    constexpr CHORUS_HOST_DEVICE T* data() const noexcept { return data_; }
    constexpr CHORUS_HOST_DEVICE std::size_t size() const noexcept { return count_; }
    constexpr CHORUS_HOST_DEVICE std::size_t size_bytes() const noexcept { return count_ * sizeof(T); }
    constexpr CHORUS_HOST_DEVICE bool empty() const noexcept { return count_ == 0; }

    constexpr CHORUS_HOST_DEVICE device_span first(std::size_t count) const noexcept { return {data_, count}; }
    constexpr CHORUS_HOST_DEVICE device_span subspan(std::size_t offset) const noexcept { return {data_ + offset, count_ - offset}; }
    constexpr CHORUS_HOST_DEVICE device_span subspan(std::size_t offset, std::size_t count) const noexcept {
        return {data_ + offset, count};
    }

 private:
    T* data_ = nullptr;
    std::size_t count_ = 0;
};
template <class T> device_span(T*, std::size_t) -> device_span<T>;

}  // namespace chorus::cuda
