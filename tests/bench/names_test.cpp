// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/names.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

using bench::split_names;
using list = std::vector<std::string>;

TEST_CASE("names are separated by commas outside parentheses") {
    CHECK(split_names("ring") == list{"ring"});
    CHECK(split_names(" ring , direct") == list{"ring", "direct"});
    CHECK(split_names("ring(segments=4),hierarchical(inside=ring(segments=2), between=direct, width=4),direct") ==
          list{"ring(segments=4)", "hierarchical(inside=ring(segments=2), between=direct, width=4)", "direct"});
}

TEST_CASE("lists with holes or open parentheses are refused") {
    for (char const* text : {"", " ", ",", "ring,", ",ring", "ring,,direct", "ring(", "ring)", "a(b,c", ")("}) {
        CAPTURE(std::string{text});
        CHECK_THROWS_AS(split_names(text), std::invalid_argument);
    }
}
