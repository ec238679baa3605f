// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/nccl_text.hpp"

#include <doctest/doctest.h>

#include <string>

using bench::nccl_number;

TEST_CASE("nccl-tests: numbers shrink to fit") {
    CHECK(nccl_number(0, 6) == "  0.00");
    CHECK(nccl_number(999.994, 6) == "999.99");
    CHECK(nccl_number(999.996, 6) == "1000.0");
    CHECK(nccl_number(12345.6, 6) == " 12346");
    CHECK(nccl_number(123456, 6) == "123456");
    CHECK(nccl_number(12345678, 7) == "1.2e+07");
    CHECK(nccl_number(12345678, 6) == " 1e+07");
    for (double value = 1e-3; value < 1e12; value *= 1.7) CHECK(nccl_number(value, 7).size() == 7);
}

TEST_CASE("nccl-tests: heading and rows have their columns below one another") {
    std::string const heading = bench::nccl_heading(false, false);
    CHECK(heading.find("#       size         count      type   redop    root     time   algbw   busbw  #wrong"
                       "     time   algbw   busbw  #wrong\n") != std::string::npos);
    CHECK(heading.find("#        (B)    (elements)                               (us)  (GB/s)  (GB/s)        "
                       "     (us)  (GB/s)  (GB/s)        \n") != std::string::npos);
    CHECK(heading.find("out-of-place") == 63);
    bench::nccl_row const row{.size = 1024, .count = 256, .type = "float", .operation = "sum",
                              .halves = {{{10.25, 0.1, 0.17, 0, {}, {}}, {10.11, 0.1, 0.18, 3, {}, {}}}}};
    CHECK(bench::nccl_line(row) == "        1024           256     float     sum      -1    10.25    0.10    0.17       0"
                                   "    10.11    0.10    0.18       3\n");
    bench::nccl_row const unchecked{.size = 8, .count = 2, .type = "float", .root = 1};
    CHECK(bench::nccl_line(unchecked).ends_with("    none       1     0.00    0.00    0.00     N/A     0.00    0.00    0.00     N/A\n"));
}

TEST_CASE("nccl-tests: four more columns per half with times of each iteration, and a stamp") {
    bench::nccl_row row{.type = "float", .stamp = "2026-01-31T12:00:00Z"};
    for (auto& half : row.halves) half.iterations = bench::nccl_iterations{.least = 1, .most = 2, .p99 = 3, .variation = 4};
    std::string const line = bench::nccl_line(row);
    CHECK(line.find("   N/A     1.00     2.00     3.00     4.00     0.00") != std::string::npos);
    std::string const heading = bench::nccl_heading(true, true);
    std::size_t const names = heading.find("#       size");
    std::string const name_line = heading.substr(names, heading.find('\n', names) - names);
    CHECK(name_line.size() + 1 == line.size());
    for (std::string word : {"i_min", "i_cv%"})
        CHECK(line[name_line.find(word) + word.size() - 1] != ' ');
}

TEST_CASE("nccl-tests: the footer judges") {
    CHECK(bench::nccl_footer("x_perf", 0, 1.5, {}) ==
          "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 1.5 \n#\n# Collective test concluded: x_perf\n#\n");
    CHECK(bench::nccl_footer("x_perf", 2, 1.5, true).starts_with("# Out of bounds values : 2 FAILED\n# Avg bus bandwidth    : 1.5 OK\n"));
    CHECK(bench::nccl_footer("x_perf", 0, 1.5, false).find("1.5 FAILED\n") != std::string::npos);
}
