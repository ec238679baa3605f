// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <csignal>

#include <unistd.h>

namespace suites {

/// Ends the program with code 124 if it still lives after so many seconds: a hang becomes a failure. Forked children do
/// not inherit it; those of a process fleet end with their parent.
class watchdog {
 public:
    explicit watchdog(unsigned seconds) {
        std::signal(SIGALRM, [](int) {
            constexpr char text[] = "watchdog: the test hangs\n";
            [[maybe_unused]] auto const written = ::write(2, text, sizeof text - 1);
            ::_exit(124);
        });
        ::alarm(seconds);
    }
    watchdog(watchdog const&) = delete;
    watchdog& operator=(watchdog const&) = delete;
    ~watchdog() { ::alarm(0); }
};

}  // namespace suites
