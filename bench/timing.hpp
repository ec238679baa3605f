// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace bench {

/// Calls `prepare(i)`, `call()`, `check(i)` for i = 0 … warm_up + repeat - 1, exactly that often, and returns the
/// seconds that each of the last `repeat` calls of `call` took. Only `call` is timed.
template <class Prepare, class Call, class Check>
std::vector<double> time_calls(std::size_t warm_up, std::size_t repeat, Prepare prepare, Call call, Check check) {
    std::vector<double> seconds;
    seconds.reserve(repeat);
    for (std::size_t i = 0; i < warm_up + repeat; ++i) {
        prepare(i);
        auto const begin = std::chrono::steady_clock::now();
        call();
        auto const end = std::chrono::steady_clock::now();
        check(i);
        if (i >= warm_up) seconds.push_back(std::chrono::duration<double>(end - begin).count());
    }
    return seconds;
}

}  // namespace bench
