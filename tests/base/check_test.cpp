// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/check.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace chorus;

namespace {

constexpr int half_of(int even) {
    detail::expects(even % 2 == 0, [] { return "an even number is needed"; });
    return even / 2;
}
static_assert(half_of(8) == 4);

}  // namespace

TEST_CASE("what holds composes no message, what does not throws it as invalid argument") {
    int composed = 0;
    auto message = [&] {
        ++composed;
        return std::string{"told once"};
    };
    detail::expects(true, message);
    CHECK(composed == 0);
    try {
        detail::expects(false, message);
        FAIL("expects returned");
    } catch (error const& failure) {
        CHECK(failure.code() == errc::invalid_argument);
        CHECK(failure.message() == "told once");
        CHECK(failure.peer() == nobody);
    }
    CHECK(composed == 1);
}

TEST_CASE("a message may be a literal or a view") {
    CHECK_THROWS_WITH_AS(half_of(3), "invalid argument: an even number is needed", error);
    CHECK_THROWS_WITH_AS(detail::expects(false, [] { return std::string_view{"seen"}; }), "invalid argument: seen",
                         error);
}
