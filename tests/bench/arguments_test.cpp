// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/arguments.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

using bench::option_name;
using bench::takes;

namespace {

constexpr option_name known[] = {{'f', "full"},
                                 {'m', "size", takes::value},
                                 {'c', "check", takes::perhaps_value},
                                 {'\0', "ranks", takes::value}};

/// What was read, as "name=value " each, and the other words behind "|".
std::string read(std::vector<std::string> const& words) {
    std::string text;
    auto const others = bench::parse_arguments(words, known, [&](option_name const& option, std::string const& value) {
        text += std::string{option.text} + '=' + value + ' ';
    });
    text += '|';
    for (std::string const& other : others) text += other + ' ';
    return text;
}

}  // namespace

TEST_CASE("options are read as getopt_long does, wherever they stand") {
    CHECK(read({}) == "|");
    CHECK(read({"-f", "-m", "4:8", "H", "-c", "H"}) == "full= size=4:8 check= |H H ");
    CHECK(read({"-fm4", "-clog:x"}) == "full= size=4 check=log:x |");
    CHECK(read({"--size", "5", "--size=6", "--full", "--check", "--check=y", "--ranks", "3"}) ==
          "size=5 size=6 full= check= check=y ranks=3 |");
    CHECK(read({"--", "-f"}) == "|-f ");
    CHECK(read({"-m", "-1"}) == "size=-1 |");
}

TEST_CASE("what is unknown or incomplete is refused by name") {
    CHECK_THROWS_WITH_AS(read({"-x"}), "unknown option -x", std::invalid_argument);
    CHECK_THROWS_WITH_AS(read({"--fulll"}), "unknown option --fulll", std::invalid_argument);
    CHECK_THROWS_WITH_AS(read({"-m"}), "-m needs a value", std::invalid_argument);
    CHECK_THROWS_WITH_AS(read({"--ranks"}), "--ranks needs a value", std::invalid_argument);
    CHECK_THROWS_WITH_AS(read({"--full=1"}), "--full takes no value", std::invalid_argument);
}

TEST_CASE("numbers are whole words within bounds") {
    CHECK(bench::parse_number("12", "x", 0, 12) == 12);
    for (char const* text : {"", "1x", "-1", "13", "99999999999999999999", " 1"})
        CHECK_THROWS_AS(bench::parse_number(text, "x", 0, 12), std::invalid_argument);
    CHECK(bench::parse_real("1.5", "x") == 1.5);
    for (char const* text : {"", "x", "1x", "-1", "nan"}) CHECK_THROWS_AS(bench::parse_real(text, "x"), std::invalid_argument);
}
