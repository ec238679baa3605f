// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/plot.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace {

std::size_t occurrences(std::string const& text, std::string const& of) {
    std::size_t many = 0;
    for (std::size_t at = text.find(of); at != std::string::npos; at = text.find(of, at + 1)) ++many;
    return many;
}

}  // namespace

TEST_CASE("on a logarithmic axis equal ratios are equal distances, and all values lie between its ends") {
    auto const axis = bench::detail::log_axis::around(2, 3, 1000, 100, 200);
    CHECK(axis.low == 2);
    CHECK(axis.high == 1024);
    for (double x : {3.0, 8.0, 100.0})
        CHECK(axis.place(4 * x) - axis.place(2 * x) == doctest::Approx(axis.place(2 * x) - axis.place(x)));
    CHECK(axis.place(3) >= 100);
    CHECK(axis.place(1000) <= 200);
    CHECK(axis.ticks().size() == 10);
    CHECK(bench::detail::log_axis::around(10, 5, 5, 0, 1).high == 10);
    CHECK(bench::detail::log_axis::around(2, 1, 1073741824.0, 0, 1).ticks().size() <= 11);
}

TEST_CASE("every curve has its line, its name and a dot for each point that a logarithm has") {
    std::string const svg =
        bench::plot_svg("a < b & c", "us", {{"ring", {{4, 1.5}, {64, 2}, {0, 3}}}, {"tree", {{4, 0.2}, {1048576, 900}}}});
    CHECK(svg.starts_with("<svg"));
    CHECK(svg.ends_with("</svg>\n"));
    CHECK(occurrences(svg, "<polyline") == 2);
    CHECK(occurrences(svg, "<circle") == 4);
    CHECK(occurrences(svg, ">ring</text>") == 1);
    CHECK(svg.find("a &lt; b &amp; c") != std::string::npos);
    CHECK(occurrences(svg, ">1M</text>") == 1);
    CHECK(svg.find("nan") == std::string::npos);
    CHECK_THROWS_AS(bench::plot_svg("nothing", "us", {{"ring", {{0, 1}}}}), std::invalid_argument);
}

TEST_CASE("ticks are labelled by powers of 1024") {
    CHECK(bench::detail::tick_label(0.5) == "0.5");
    CHECK(bench::detail::tick_label(512) == "512");
    CHECK(bench::detail::tick_label(65536) == "64K");
    CHECK(bench::detail::tick_label(3221225472.0) == "3G");
}

TEST_CASE("a file that cannot be written is said to be so") {
    CHECK_THROWS_AS(bench::write_text("/nonexistent/file", "x"), std::runtime_error);
}
