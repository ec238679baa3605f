// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace chorus {

/// Scratch memory: aligned to 64 bytes, uninitialised, grows only, owned by one plan or endpoint.
/// Pages are touched when it grows, so that the first use pays no page faults.
class byte_buffer {
 public:
    static constexpr std::size_t alignment = 64;

    byte_buffer() = default;
    explicit byte_buffer(std::size_t bytes) { grow(bytes); }

    /// Makes room for `bytes`; contents are lost if it had to grow. Allocates only then.
    void grow(std::size_t bytes) {
        if (bytes <= bytes_) return;
        memory_.reset();
        bytes_ = 0;
        memory_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{alignment})));
        bytes_ = bytes;
        constexpr std::size_t page = 4096;
        for (std::size_t at = 0; at < bytes; at += page) memory_.get()[at] = std::byte{0};
    }

    std::byte* data() noexcept { return memory_.get(); }
    std::byte const* data() const noexcept { return memory_.get(); }
    std::size_t bytes() const noexcept { return bytes_; }
    std::span<std::byte> span() noexcept { return {memory_.get(), bytes_}; }

 private:
    struct release {
        void operator()(std::byte* memory) const noexcept {
            ::operator delete(memory, std::align_val_t{alignment});
        }
    };

    std::unique_ptr<std::byte, release> memory_;
    std::size_t bytes_ = 0;
};

}  // namespace chorus
