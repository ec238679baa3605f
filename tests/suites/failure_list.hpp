// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>

namespace suites {

/// Texts that ranks, as threads or as forked processes, collect for the main thread: it alone talks to the test
/// framework. Holds 64 KiB; what does not fit is left out.
class failure_list {
 public:
    failure_list() {
        void* const memory = ::mmap(nullptr, sizeof(page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc{};
        page_ = ::new (memory) page;
    }
    failure_list(failure_list const&) = delete;
    failure_list& operator=(failure_list const&) = delete;
    ~failure_list() { ::munmap(page_, sizeof(page)); }

    void add(std::string_view text) {
        std::size_t const begin = page_->used.fetch_add(text.size() + 1);
        if (begin + text.size() < sizeof page_->text) std::memcpy(page_->text + begin, text.data(), text.size());
    }

    /// Only to be called when the ranks have ended.
    std::vector<std::string> texts() const {
        std::vector<std::string> all;
        std::size_t const end = page_->used < sizeof page_->text ? page_->used.load() : sizeof page_->text - 1;
        for (std::size_t at = 0; at < end; at += all.back().size() + 1) all.emplace_back(page_->text + at);
        return all;
    }

 private:
    struct page {
        std::atomic<std::size_t> used{0};
        char text[65536] = {};
    };
    page* page_;
};

}  // namespace suites
