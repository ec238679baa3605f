// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/timing.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <vector>

TEST_CASE("BEN-1: exactly warm-up + repeat calls, and as many times as repeats") {
    for (std::size_t warm_up : {0u, 1u, 3u, 20u})
        for (std::size_t repeat : {1u, 2u, 25u}) {
            std::string order;
            std::size_t next = 0;
            bool counted = true;
            auto const times = bench::time_calls(
                warm_up, repeat, [&](std::size_t i) { order += 'p'; counted = counted && i == next; },
                [&] { order += 'c'; }, [&](std::size_t i) { order += 'k'; counted = counted && i == next++; });
            CHECK(times.begin.size() == repeat);
            CHECK(times.end.size() == repeat);
            CHECK(counted);
            std::string expected;
            for (std::size_t i = 0; i < warm_up + repeat; ++i) expected += "pck";
            CHECK(order == expected);
        }
}

TEST_CASE("only the call itself is timed, warm-up is left out") {
    std::size_t calls = 0;
    auto const nap = [](int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds{milliseconds}); };
    auto const begin = std::chrono::steady_clock::now();
    auto const times = bench::time_calls(
        1, 3, [&](std::size_t) { nap(20); }, [&] { nap(calls++ == 0 ? 200 : 2); }, [&](std::size_t) { nap(20); });
    std::chrono::duration<double> const all = std::chrono::steady_clock::now() - begin;
    double timed = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        double const seconds = static_cast<double>(times.end[i] - times.begin[i]) * 1e-9;
        CHECK(seconds >= 0.002);
        timed += seconds;
    }
    CHECK(timed <= all.count() - 0.2 - 8 * 0.02);
}
