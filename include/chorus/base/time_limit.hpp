// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"

#include <chrono>
#include <ratio>
#include <string>

namespace chorus {

/// How long an operation may take: for ever by default, else any std::chrono duration. A negative one, or one that is not a number, is refused (invalid_argument);
/// zero means "only if it is complete at once"; one beyond 100 years is for ever, so no clock sum overflows.
class time_limit {
 public:
    constexpr time_limit() = default;

    template <class Count, class Period>
    constexpr time_limit(std::chrono::duration<Count, Period> limit) {  // implicit: {.deadline = std::chrono::seconds{2}}
        using seconds = std::chrono::duration<double>;
        double const length = std::chrono::duration_cast<seconds>(limit).count();
        if (!(length >= 0))
            detail::raise(errc::invalid_argument, "a time limit of " + std::to_string(length) +
                                                     " s is negative or not a number");
        if (length < 100.0 * 366 * 24 * 3600) nanoseconds_ = static_cast<long long>(length * 1e9);
    }

    constexpr bool is_for_ever() const noexcept { return nanoseconds_ < 0; }

    /// Meaningless when for ever.
    constexpr std::chrono::nanoseconds length() const noexcept { return std::chrono::nanoseconds{nanoseconds_}; }

    constexpr std::chrono::steady_clock::time_point after(std::chrono::steady_clock::time_point start) const noexcept {
        return start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(length());
    }

    friend constexpr bool operator==(time_limit, time_limit) = default;

 private:
    long long nanoseconds_ = -1;
};

inline std::string to_string(time_limit limit) {
    if (limit.is_for_ever()) return "for ever";
    return std::to_string(static_cast<double>(limit.length().count()) * 1e-9) + " s";
}

}  // namespace chorus
