// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "settings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace bench {

/// One line that shows every setting: what is not used by the subject is said to be so.
inline std::string to_string(settings const& asked, endpoint const& net) {
    bool const reduces = !asked.pattern && chorus::has_reduction(asked.what);
    bool const rooted = !asked.pattern && chorus::has_root(asked.what);
    return fmt::format(
        "{}, {} ranks ({}), element {}, operation {}, {}, root {}, bytes {}, {} warm-up and {} timed calls, results {}{}",
        asked.subject, net.size(), asked.where.transport, asked.element, reduces ? to_string(asked.op) : "none",
        asked.in_place ? "in place" : "out of place", rooted ? std::to_string(asked.root) : "none", asked.bytes,
        asked.how.warm_up, asked.how.repeat, asked.how.check ? "checked" : "not checked",
        asked.how.off_cache ? ", caches displaced" : "") +
           (asked.carry.empty() ? "" : ", carried by " + asked.carry);
}

/// The table on stdout, row by row.
class table {
 public:
    explicit table(settings const& asked) : asked_{asked} {
        for (std::string const& name : asked.algorithms)
            width_ = (std::max)(width_, name.starts_with("automatic") ? std::size_t{29} : name.size());
        if (asked.pattern) width_ = 9;
    }

    void print_heading(endpoint const& net) const {
        fmt::print("# {}\n", to_string(asked_, net));
        if (asked_.pattern) fmt::print("# times in us per message; GB/s of the median, 1 GB = 10^9 bytes\n");
        else if (net.shares_clock())
            fmt::print("# times in us, last rank's begin to last rank's end; skew: first end to last end, median; "
                       "GB/s of the median, 1 GB = 10^9 bytes\n");
        else
            fmt::print("# times in us, of the rank that took longest; skew: between the ranks' times, median; "
                       "GB/s of the median, 1 GB = 10^9 bytes\n");
        if (!asked_.carry.empty())
            fmt::print("# wire bytes: sent by the rank that sends most; less: uncompressed bytes over those of all ranks; error: "
                       "relative, of gradients\n");
        fmt::print("{:>11} {:>11}  {:<{}} {:>11} {:>11} {:>11} {:>7} {:>9}", "bytes", "count", "algorithm", width_, "median",
                   "minimum", "p99", "+-%", "skew");
        if (asked_.versus_native) fmt::print(" {:>11} {:>7}", "native", "ratio");
        if (!asked_.carry.empty()) fmt::print(" {:>11} {:>7} {:>9}", "wire bytes", "less", "error");
        fmt::print(" {:>9} {:>9} {:>7}\n", "GB/s", "bus GB/s", "wrong");
        std::fflush(stdout);
    }

    void print(row const& r) const {
        std::string const name = r.algorithm.starts_with("automatic") ? "automatic: " + r.chosen : r.algorithm;
        summary const& time = r.taken.time;
        std::string const sure =
            time.middle.is_empty() ? "-" : fmt::format("{:.1f}", 100 * time.middle.relative_to(time.median));
        fmt::print("{:>11} {:>11}  {:<{}} {:>11.2f} {:>11.2f} {:>11.2f} {:>7} {:>9.2f}", r.bytes, r.count, name, width_,
                   1e6 * time.median, 1e6 * time.minimum, 1e6 * time.p99, sure, 1e6 * r.taken.skew.median);
        if (r.native)
            fmt::print(" {:>11.2f} {:>7.3f}", 1e6 * r.native->time.median, time.median / r.native->time.median);
        if (r.carried) print_carried(*r.carried);
        fmt::print(" {:>9.3f} {:>9.3f} {:>7}\n", r.rates.algorithm, r.rates.bus,
                   asked_.how.check ? std::to_string(r.wrong()) : "-");
        std::fflush(stdout);
    }

 private:
    static void print_carried(carried_facts const& found) {
        std::uint64_t const most = *std::max_element(found.wire_bytes.begin(), found.wire_bytes.end());
        fmt::print(" {:>11} {:>7.2f} {:>9}", most, found.ratio, found.error ? fmt::format("{:.3g}", *found.error) : "-");
    }

    settings const& asked_;
    std::size_t width_ = 9;
};

}  // namespace bench
