// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/detail/message_mismatch.hpp"

#include <string>

#include <doctest/doctest.h>

TEST_CASE("ORD-1: a mismatch names both ranks and both sizes") {
    chorus::detail::message_mismatch const lengths{3, 5, 77, {4094, 9}, {4096, 9}};
    std::string const text = lengths.to_error().what();
    CHECK(lengths.to_error().code() == chorus::errc::mismatch);
    CHECK(lengths.to_error().peer() == 3);
    for (char const* fact : {"rank 5", "rank 3", "4096 bytes", "4094 bytes", "stream 77"})
        CHECK_MESSAGE(text.find(fact) != std::string::npos, text, " lacks ", fact);
    CHECK(text.find("fingerprint") == std::string::npos);
}

TEST_CASE("ORD-2: a mismatch of fingerprints names both") {
    chorus::detail::message_mismatch const operations{0, 1, 2, {8, 1234}, {8, 4321}};
    std::string const text = operations.to_error().what();
    for (char const* fact : {"expected 4321", "sent 1234", "different operations"})
        CHECK_MESSAGE(text.find(fact) != std::string::npos, text, " lacks ", fact);
}
