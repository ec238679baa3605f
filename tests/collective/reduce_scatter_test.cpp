// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/reduce_scatter.hpp"

#include "suites/execution_suite.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-6, WSZ-8, ZER-1: reduce_scatter by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::reduce_scatter, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("reduce_scatter by every algorithm on doubles") {
    check_grid<collective::reduce_scatter, double>({2, 3, 5, 8, 13});
}

TEST_CASE("reduce_scatter of structs by an operation that does not commute keeps the order of ranks") {
    check_grid<collective::reduce_scatter, triangle, matrix_product>({1, 2, 3, 4, 5, 6, 7, 8, 11, 16});
}

TEST_CASE("ZER-2: reduce_scatter of uneven blocks, some or all of them empty") {
    check_uneven<collective::reduce_scatter, std::int32_t>();
}

TEST_CASE("reduce_scatter on threads crosses the limits of message kinds") {
    check_threads<collective::reduce_scatter, float>();
}

TEST_CASE("reduce_scatter on transports that do not reduce") { check_plain_transport<collective::reduce_scatter>(); }

TEST_CASE("reduce_scatter refuses an operation that may not commute where the order of ranks is lost") {
    check_order_is_demanded<collective::reduce_scatter>();
}

TEST_CASE("WSZ-7, NBL-2: reduce_scatter on a single rank") {
    check_single_rank<collective::reduce_scatter, std::int32_t>();
}

TEST_CASE("INP-2: in place the own block becomes the sum; written to the own block alone, the others stay") {
    std::vector<std::uint64_t> const counts{2, 3, 1};
    for (bool own_block : {false, true}) {
        failure_list failures;
        thread_fleet{3}.run([&](thread_transport& net) {
            rank_id const me = net.rank();
            blocks const cut = blocks::of_counts(counts);
            guarded<std::int32_t> memory{6};
            std::span<std::int32_t> const all = memory.span();
            std::fill(all.begin(), all.end(), static_cast<std::int32_t>(me + 1));
            std::span<std::int32_t> const own = all.subspan(cut.begin(me), cut.length(me));
            if (own_block) reduce_scatter_v(group{net}, all, own, counts, sum{});
            else reduce_scatter_v(group{net}, all, counts, sum{});
            for (std::int32_t x : own)
                if (x != 6) failures.add("the own block is not the sum");
            if (own_block &&
                std::count(all.begin(), all.end(), static_cast<std::int32_t>(me + 1)) != 6 - std::ssize(own))
                failures.add("another block has changed");
            if (!memory.is_intact()) failures.add("guards");
        });
        expect_none(failures);
    }
}

TEST_CASE("GRP-2: the blocks of a group listed in descending order are those of its own ranks") {
    failure_list failures;
    thread_fleet{4}.run([&](thread_transport& net) {
        if (net.rank() % 2 == 0) return;
        rank_id const order[] = {3, 1};
        group const members = group{net}.subgroup(order);
        std::vector<int> const input{10, 20};
        std::vector<int> own(1);
        reduce_scatter(members, input, own, sum{});
        if (own[0] != (net.rank() == 3 ? 20 : 40)) failures.add("wrong block");
    });
    expect_none(failures);
}
