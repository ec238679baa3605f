// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/gather.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>
#include <vector>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-8, ZER-1: gather by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::gather, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("gather of structs of 12 bytes") { check_grid<collective::gather, triangle, matrix_product>({1, 3, 4, 7}); }

TEST_CASE("ZER-2: gather of uneven blocks, some or all of them empty") {
    check_uneven<collective::gather, std::int32_t>();
}

TEST_CASE("gather on threads crosses the limits of message kinds") { check_threads<collective::gather, float>(); }

TEST_CASE("WSZ-7, NBL-2: gather on a single rank") { check_single_rank<collective::gather, std::int32_t>(); }

TEST_CASE("gather and gather_v done at once, on threads") {
    failure_list failures;
    thread_fleet{3}.run([&](thread_transport& net) {
        group const members{net};
        int const me = static_cast<int>(net.rank());
        std::vector<std::uint64_t> const counts{2, 0, 1};
        std::vector<int> const one{me};
        std::vector<int> const own(counts[net.rank()], me);
        std::vector<int> all(me == 2 ? 3 : 0);
        gather(members, one, all, 2);
        if (me == 2 && all != std::vector<int>{0, 1, 2}) failures.add("gather");
        gather_v(members, own, all, counts, 2, direct{});
        if (me == 2 && all != std::vector<int>{0, 0, 2}) failures.add("gather_v");
    });
    expect_none(failures);
}
