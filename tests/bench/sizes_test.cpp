// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/sizes.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using bench::element_counts;
using bench::parse_size;
using bench::parse_sizes;
using list = std::vector<std::uint64_t>;

TEST_CASE("BEN-9: K, M and G are powers of 1024") {
    CHECK(parse_size("0") == 0);
    CHECK(parse_size("17") == 17);
    CHECK(parse_size("1K") == 1024);
    CHECK(parse_size("3k") == 3072);
    CHECK(parse_size("1M") == 1048576);
    CHECK(parse_size("1G") == 1073741824);
    CHECK(parse_size("17179869183G") == 17179869183u * (std::uint64_t{1} << 30));
}

TEST_CASE("BEN-9: what is no size is refused") {
    for (char const* text : {"", "K", "-1", "+1", " 1", "1 ", "1.5M", "1KB", "1KiB", "1T", "0x10", "1K1",
                             "18446744073709551616", "17179869184G", "18014398509481984K"}) {
        CAPTURE(std::string{text});
        CHECK_THROWS_AS(parse_size(text), std::invalid_argument);
    }
}

TEST_CASE("BEN-9: ranges include both ends") {
    CHECK(parse_sizes("1G") == list{1073741824});
    CHECK(parse_sizes("1K:1K") == list{1024});
    CHECK(parse_sizes("0:0") == list{0});
    CHECK(parse_sizes("3:17") == list{3, 6, 12, 17});
    CHECK(parse_sizes("0:8") == list{0, 1, 2, 4, 8});
    CHECK(parse_sizes("4:4M:x16") == list{4, 64, 1024, 16384, 262144, 4194304});
    auto const sizes = parse_sizes("1:1M");
    CHECK(sizes.size() == 21);
    CHECK(sizes.back() == 1048576);
}

TEST_CASE("ranges rise strictly and end where they should, whatever begin, end and factor") {
    for (std::uint64_t begin = 0; begin < 20; ++begin)
        for (std::uint64_t end = begin; end < 70; ++end)
            for (std::uint64_t factor = 2; factor < 6; ++factor) {
                auto const sizes =
                    parse_sizes(std::to_string(begin) + ':' + std::to_string(end) + ":x" + std::to_string(factor));
                REQUIRE(sizes.front() == begin);
                REQUIRE(sizes.back() == end);
                for (std::size_t i = 1; i < sizes.size(); ++i) {
                    REQUIRE(sizes[i - 1] < sizes[i]);
                    std::uint64_t const next = sizes[i - 1] == 0 ? 1 : sizes[i - 1] * factor;
                    REQUIRE((sizes[i] == next || (i + 1 == sizes.size() && next > end)));
                }
            }
    auto const whole = parse_sizes("1:18446744073709551615:x1024");
    CHECK(whole.size() == 8);
    CHECK(whole.back() == 18446744073709551615u);
}

TEST_CASE("BEN-9: ranges that cannot be are refused") {
    for (char const* text :
         {"4:2", "1:", ":1", "1:2:", "1:2:2", "1:2:x1", "1:2:x0", "1:2:x", "1:2:y2", "1:2:x2:3", ":"}) {
        CAPTURE(std::string{text});
        CHECK_THROWS_AS(parse_sizes(text), std::invalid_argument);
    }
}

TEST_CASE("BEN-9: sizes are rounded up to whole elements, each count once") {
    CHECK(element_counts({0, 1, 2, 4, 8}, 4) == list{0, 1, 2});
    CHECK(element_counts({3, 6, 12, 17}, 4) == list{1, 2, 3, 5});
    CHECK(element_counts({3, 6, 12, 17}, 1) == list{3, 6, 12, 17});
    CHECK(element_counts({18446744073709551615u}, 8) == list{2305843009213693952u});
    CHECK(element_counts({}, 8).empty());
}
