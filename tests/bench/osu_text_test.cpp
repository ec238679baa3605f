// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/osu_text.hpp"

#include <doctest/doctest.h>

#include <string>

using bench::osu_columns;
using bench::osu_heading;
using bench::osu_line;
using bench::osu_row;

TEST_CASE("OSU: titles") {
    CHECK(bench::osu_title("Allreduce Latency", false) == "\n# OSU MPI Allreduce Latency Test v7.4\n");
    CHECK(bench::osu_title("Non-blocking Barrier Latency", true) ==
          "\n# OSU MPI Non-blocking Barrier Latency Test v7.4\n# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n");
}

TEST_CASE("OSU: a table of latencies to the column, in full with validation and percentiles") {
    osu_columns columns;
    CHECK(osu_heading(columns) == "# Size       Avg Latency(us)\n");
    CHECK(osu_line(columns, {.size = 1048576, .average = 104.301}) == "1048576               104.30\n");
    columns.is_full = columns.is_checked = true;
    columns.percentiles = {5, 99};
    CHECK(osu_heading(columns) == "# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations"
                                  "        Validation   P5 Tail Lat(us)  P99 Tail Lat(us)\n");
    osu_row const row{.size = 4, .average = 1.23, .minimum = 1.1, .maximum = 1.41, .iterations = 1000, .is_right = false,
                      .percentiles = {1, 12345.678}};
    CHECK(osu_line(columns, row) == "4                       1.23              1.10              1.41        1000"
                                    "              Fail              1.00          12345.68\n");
}

TEST_CASE("OSU: a barrier has no size, and its numbers are as wide as their headings") {
    osu_columns columns{.has_size = false};
    CHECK(osu_heading(columns) == "# Avg Latency(us)\n");
    CHECK(osu_line(columns, {.average = 1.57}) == "             1.57\n");
    columns.overlaps = true;
    CHECK(osu_heading(columns) == "# Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)\n");
    CHECK(osu_line(columns, {.average = 9, .compute = 3, .pure = 4, .overlap = 50}) ==
          "         9.00              3.00              4.00             50.00\n");
}

TEST_CASE("OSU: a non-blocking collective in full") {
    osu_columns const columns{.overlaps = true, .is_full = true};
    CHECK(osu_heading(columns) ==
          "# Size           Overall(us)       Compute(us)    Coll. Init(us)      MPI_Test(us)      MPI_Wait(us)"
          "    Pure Comm.(us)     Min Comm.(us)     Max Comm.(us)        Overlap(%)\n");
    osu_row const row{.size = 8, .average = 1, .minimum = 7, .maximum = 8, .compute = 2, .start = 3, .test = 4, .wait = 5,
                      .pure = 6, .overlap = 9};
    CHECK(osu_line(columns, row) ==
          "8                       1.00              2.00              3.00              4.00              5.00"
          "              6.00              7.00              8.00              9.00\n");
}

TEST_CASE("OSU: bandwidth") {
    osu_columns const columns{.is_bandwidth = true, .percentiles = {50}};
    CHECK(osu_heading(columns) == "# Size      Bandwidth (MB/s) P50 Tail BW(MB/s)\n");
    CHECK(osu_line(columns, {.size = 4194304, .average = 27161.33, .percentiles = {2.5}}) ==
          "4194304             27161.33              2.50\n");
}
