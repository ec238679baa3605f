// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <unistd.h>

namespace chorus::detail {

[[noreturn]] inline void raise_system(std::string const& what) {
    int const code = errno;
    raise(errc::system_failed, what + ": " + std::strerror(code));
}

/// A file descriptor that closes itself.
class owned_descriptor {
 public:
    explicit owned_descriptor(int descriptor = -1) noexcept : descriptor_{descriptor} {}
    owned_descriptor(owned_descriptor&& other) noexcept : descriptor_{std::exchange(other.descriptor_, -1)} {}
    owned_descriptor& operator=(owned_descriptor&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~owned_descriptor() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    int get() const noexcept { return descriptor_; }
    bool is_open() const noexcept { return descriptor_ >= 0; }

 private:
    int descriptor_;
};

}  // namespace chorus::detail
