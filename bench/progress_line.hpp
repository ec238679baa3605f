// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <unistd.h>

namespace bench {

/// "3 of 20 after 4 s: all_reduce by ring at 1024 bytes": the text of a progress line.
inline std::string progress_text(std::size_t done, std::size_t all, double seconds, std::string const& what) {
    return std::to_string(done + 1) + " of " + std::to_string(all) + " after " +
           std::to_string(static_cast<long>(seconds)) + " s: " + what;
}

/// What is being measured, on stderr, if that is a terminal and this is the rank that speaks; gone when the next line of
/// the table is printed.
class progress_line {
 public:
    explicit progress_line(bool speaks) : is_shown_{speaks && ::isatty(STDERR_FILENO) == 1} {}
    progress_line(progress_line const&) = delete;
    ~progress_line() { clear(); }

    void show(std::size_t done, std::size_t all, std::string const& what) {
        if (!is_shown_) return;
        std::chrono::duration<double> const since = std::chrono::steady_clock::now() - begin_;
        std::fprintf(stderr, "\r\033[K%s", progress_text(done, all, since.count(), what).c_str());
        std::fflush(stderr);
    }
    void clear() {
        if (!is_shown_) return;
        std::fputs("\r\033[K", stderr);
        std::fflush(stderr);
    }

 private:
    bool is_shown_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace bench
