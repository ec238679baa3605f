// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/time_limit.hpp"

#include <chrono>
#include <limits>

#include <doctest/doctest.h>

using chorus::time_limit;

TEST_CASE("a limit is for ever unless one is given") {
    CHECK(time_limit{}.is_for_ever());
    CHECK(to_string(time_limit{}) == "for ever");
    CHECK(!time_limit{std::chrono::seconds{0}}.is_for_ever());
    static_assert(time_limit{std::chrono::milliseconds{1500}}.length() == std::chrono::nanoseconds{1'500'000'000});
    static_assert(time_limit{std::chrono::milliseconds{1500}} == time_limit{std::chrono::duration<double>{1.5}});
}

TEST_CASE("HNG-1: the longest durations do not overflow any clock sum") {
    CHECK(time_limit{(std::chrono::milliseconds::max)()}.is_for_ever());
    CHECK(time_limit{(std::chrono::nanoseconds::max)()}.is_for_ever());
    CHECK(time_limit{(std::chrono::hours::max)()}.is_for_ever());
    CHECK(time_limit{std::chrono::duration<double>{std::numeric_limits<double>::infinity()}}.is_for_ever());
    CHECK(time_limit{std::chrono::hours{24 * 366 * 101}}.is_for_ever());
    auto const now = std::chrono::steady_clock::now();
    time_limit const century{std::chrono::hours{24 * 365 * 100}};
    CHECK(!century.is_for_ever());
    CHECK(century.after(now) > now + std::chrono::hours{24 * 365 * 99});
}

TEST_CASE("HNG-1: a negative limit is refused, and zero is none at all") {
    for (long long ticks : {-1LL, (std::numeric_limits<long long>::min)()})
        try {
            time_limit const refused{std::chrono::nanoseconds{ticks}};
            FAIL_CHECK("accepted ", to_string(refused));
        } catch (chorus::error const& refusal) {
            CHECK(refusal.code() == chorus::errc::invalid_argument);
        }
    auto const now = std::chrono::steady_clock::now();
    CHECK(time_limit{std::chrono::seconds{0}}.after(now) == now);
}

TEST_CASE("a limit that is not a number is refused") {
    CHECK_THROWS_AS(time_limit{std::chrono::duration<double>{std::numeric_limits<double>::quiet_NaN()}}, chorus::error);
}
