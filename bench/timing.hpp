// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// When calls began and ended, in nanoseconds of the steady clock, which the processes of one host share.
struct call_times {
    std::vector<std::int64_t> begin;
    std::vector<std::int64_t> end;
};

inline std::int64_t nanoseconds_now() {
    using namespace std::chrono;
    return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

inline double seconds(std::int64_t nanoseconds) noexcept { return static_cast<double>(nanoseconds) * 1e-9; }

/// Calls `prepare(i)`, `call()`, `check(i)` for i = 0 … warm_up + repeat - 1, exactly that often, and returns when each
/// of the last `repeat` calls of `call` began and ended.
template <class Prepare, class Call, class Check>
call_times time_calls(std::size_t warm_up, std::size_t repeat, Prepare prepare, Call call, Check check) {
    call_times times;
    times.begin.reserve(repeat);
    times.end.reserve(repeat);
    for (std::size_t i = 0; i < warm_up + repeat; ++i) {
        prepare(i);
        std::int64_t const begin = nanoseconds_now();
        call();
        std::int64_t const end = nanoseconds_now();
        check(i);
        if (i < warm_up) continue;
        times.begin.push_back(begin);
        times.end.push_back(end);
    }
    return times;
}

}  // namespace bench
