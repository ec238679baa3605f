// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "settings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

namespace bench {

/// One line that shows every setting: what is not used by the collective is said to be so.
inline std::string to_string(settings const& asked) {
    return fmt::format(
        "{}, {} ranks ({}), element {}, operation {}, {}, root {}, bytes {}, {} warm-up and {} timed calls, results {}",
        chorus::to_string(asked.what), asked.ranks, asked.transport, asked.element,
        chorus::has_reduction(asked.what) ? to_string(asked.op) : "none", asked.in_place ? "in place" : "out of place",
        chorus::has_root(asked.what) ? std::to_string(asked.root) : "none", asked.bytes, asked.warm_up, asked.repeat,
        asked.check ? "checked" : "not checked");
}

/// The table on stdout, row by row, and what is being measured on stderr if that is a terminal.
class table {
 public:
    explicit table(settings const& asked) : asked_{asked}, shows_progress_{::isatty(STDERR_FILENO) == 1} {
        for (std::string const& name : asked.algorithms)
            width_ = (std::max)(width_, name == "automatic" ? std::size_t{29} : name.size());
    }

    void print_heading() const {
        fmt::print("# {}\n", to_string(asked_));
        fmt::print("# times in us, last rank's begin to last rank's end; GB/s of the median, 1 GB = 10^9 bytes\n");
        fmt::print("{:>11} {:>11}  {:<{}} {:>11} {:>11} {:>11} {:>9} {:>9} {:>7}\n", "bytes", "count", "algorithm",
                   width_, "median", "minimum", "p99", "GB/s", "bus GB/s", "wrong");
        std::fflush(stdout);
    }

    void print_progress(std::string const& algorithm, std::uint64_t bytes) const {
        if (!shows_progress_) return;
        fmt::print(stderr, "\rmeasuring {} at {} bytes ... ", algorithm, bytes);
        std::fflush(stderr);
    }

    void print(row const& r) const {
        if (shows_progress_) fmt::print(stderr, "\r\033[K");
        bandwidth const rates = r.rates(asked_);
        std::string const name = r.algorithm == "automatic" ? "automatic: " + r.chosen : r.algorithm;
        fmt::print("{:>11} {:>11}  {:<{}} {:>11.2f} {:>11.2f} {:>11.2f} {:>9.3f} {:>9.3f} {:>7}\n", r.bytes, r.count,
                   name, width_, 1e6 * r.time.median, 1e6 * r.time.minimum, 1e6 * r.time.p99, rates.algorithm, rates.bus,
                   asked_.check ? std::to_string(r.wrong) : "-");
        std::fflush(stdout);
    }

 private:
    settings const& asked_;
    bool shows_progress_;
    std::size_t width_ = 9;
};

}  // namespace bench
