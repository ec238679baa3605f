// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/detail/first_error.hpp"

#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

TEST_CASE("the first error set is the one kept, long texts are cut") {
    chorus::detail::first_error reason;
    CHECK(!reason.is_set());
    reason.set(chorus::errc::timed_out, 3, "first");
    reason.set(chorus::errc::mismatch, 4, "second");
    REQUIRE(reason.is_set());
    CHECK(reason.get().code() == chorus::errc::timed_out);
    CHECK(reason.get().peer() == 3);
    CHECK(std::string{reason.get().what()} == "timed out: first");

    chorus::detail::first_error long_reason;
    long_reason.set(chorus::errc::aborted, 0, std::string(1000, 'x'));
    CHECK(std::string{long_reason.get().what()} == "aborted: " + std::string(1000, 'x'));
    chorus::detail::first_error empty_reason;
    empty_reason.set(chorus::errc::aborted, 0, {});
    CHECK(std::string{empty_reason.get().what()} == "aborted: ");
}

TEST_CASE("of many threads exactly one wins, and its facts belong together") {
    for (int round = 0; round < 50; ++round) {
        chorus::detail::first_error reason;
        std::vector<std::thread> threads;
        for (chorus::rank_id r = 0; r < 4; ++r)
            threads.emplace_back([&reason, r] { reason.set(chorus::errc::aborted, r, std::to_string(r)); });
        for (std::thread& thread : threads) thread.join();
        REQUIRE(reason.is_set());
        CHECK(std::string{reason.get().what()} == "aborted: " + std::to_string(reason.get().peer()));
    }
}
