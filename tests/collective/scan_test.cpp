// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/scan.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>
#include <vector>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-8, ZER-1: scan by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::scan, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("WSZ-1, WSZ-8, ZER-1: exclusive_scan by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::exclusive_scan, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("exclusive_scan of structs by an operation that does not commute keeps the order of ranks") {
    check_grid<collective::exclusive_scan, triangle, matrix_product>({1, 2, 3, 4, 5, 6, 7, 8, 11, 16});
}

TEST_CASE("scan by every algorithm on doubles") { check_grid<collective::scan, double>({2, 3, 5, 8, 13}); }

TEST_CASE("scan of structs by an operation that does not commute keeps the order of ranks") {
    check_grid<collective::scan, triangle, matrix_product>({1, 2, 3, 4, 5, 6, 7, 8, 11, 16});
}

TEST_CASE("scan on threads crosses the limits of message kinds") { check_threads<collective::scan, float>(); }

TEST_CASE("exclusive_scan on threads") { check_threads<collective::exclusive_scan, float>(); }

TEST_CASE("scan on transports that do not reduce") { check_plain_transport<collective::scan>(); }

TEST_CASE("WSZ-7, NBL-2: scan on a single rank") { check_single_rank<collective::scan, std::int32_t>(); }

TEST_CASE("scan and exclusive_scan done at once, on threads") {
    failure_list failures;
    thread_fleet{4}.run([&](thread_transport& net) {
        int const me = static_cast<int>(net.rank());
        std::vector<int> const input{me + 1};
        std::vector<int> output(1);
        scan(group{net}, input, output, sum{});
        if (output[0] != (me + 1) * (me + 2) / 2) failures.add("scan");
        exclusive_scan(group{net}, input, output, sum{});
        if (me > 0 && output[0] != me * (me + 1) / 2) failures.add("exclusive_scan");
    });
    expect_none(failures);
}
