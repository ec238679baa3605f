// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/scatter.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>
#include <vector>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-8, ZER-1: scatter by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::scatter, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("scatter of structs of 12 bytes") { check_grid<collective::scatter, triangle, matrix_product>({1, 3, 4, 7}); }

TEST_CASE("ZER-2: scatter of uneven blocks, some or all of them empty") {
    check_uneven<collective::scatter, std::int32_t>();
}

TEST_CASE("scatter on threads crosses the limits of message kinds") { check_threads<collective::scatter, float>(); }

TEST_CASE("WSZ-7, NBL-2: scatter on a single rank") { check_single_rank<collective::scatter, std::int32_t>(); }

TEST_CASE("scatter and scatter_v done at once, on threads") {
    failure_list failures;
    thread_fleet{3}.run([&](thread_transport& net) {
        group const members{net};
        int const me = static_cast<int>(net.rank());
        std::vector<std::uint64_t> const counts{2, 0, 1};
        std::vector<int> all;
        if (me == 1) all = {5, 6, 7};
        std::vector<int> one(1);
        std::vector<int> own(counts[net.rank()]);
        scatter(members, all, one, 1);
        if (one[0] != 5 + me) failures.add("scatter");
        scatter_v(members, all, own, counts, 1, direct{});
        std::vector<std::vector<int>> const expected{{5, 6}, {}, {7}};
        if (own != expected[net.rank()]) failures.add("scatter_v");
    });
    expect_none(failures);
}
