// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"

#include <cstddef>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

namespace chorus::detail {

/// Tells the process that made an endpoint from its forked children at the price of one load: a page that the kernel hands to children empty
/// (MADV_WIPEONFORK, Linux 4.14). Where the kernel does not know that, the process number is asked for: one system call.
class fork_guard {
 public:
    fork_guard() : owner_{::getpid()} {
        void* const page = ::mmap(nullptr, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page == MAP_FAILED) return;
        if (::madvise(page, page_bytes, MADV_WIPEONFORK) != 0) {
            ::munmap(page, page_bytes);
            return;
        }
        *static_cast<char*>(page) = 1;
        mark_ = static_cast<char const volatile*>(page);
    }
    ~fork_guard() {
        if (mark_ != nullptr) ::munmap(const_cast<char*>(mark_), page_bytes);
    }
    fork_guard(fork_guard const&) = delete;
    fork_guard& operator=(fork_guard const&) = delete;

    bool is_forked() const noexcept { return mark_ != nullptr ? *mark_ == 0 : ::getpid() != owner_; }

    error failure() const {
        return error{errc::forked, "this endpoint belongs to process " + std::to_string(owner_) + "; process " +
                                       std::to_string(::getpid()) +
                                       " was forked from it and may not use it: make an own one, or fork before"};
    }

 private:
    static constexpr std::size_t page_bytes = 4096;

    pid_t owner_;
    char const volatile* mark_ = nullptr;
};

}  // namespace chorus::detail
