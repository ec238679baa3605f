// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_gather.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>
#include <vector>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-3, WSZ-8, ZER-1: all_gather by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::all_gather, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("all_gather of structs of 12 bytes") {
    check_grid<collective::all_gather, triangle, matrix_product>({1, 3, 4, 7});
}

TEST_CASE("ZER-2: all_gather of uneven blocks, some or all of them empty") {
    check_uneven<collective::all_gather, std::int32_t>();
}

TEST_CASE("all_gather on threads crosses the limits of message kinds") {
    check_threads<collective::all_gather, float>();
}

TEST_CASE("WSZ-7, NBL-2: all_gather on a single rank") { check_single_rank<collective::all_gather, std::int32_t>(); }

TEST_CASE("INP-3: in place, each rank's own block where it belongs") {
    for (chosen const& by : algorithms_for(collective::all_gather)) {
        failure_list failures;
        thread_fleet{4}.run([&](thread_transport& net) {
            std::vector<int> all(12, -1);
            for (rank_id i = 0; i < 3; ++i) all[3 * net.rank() + i] = static_cast<int>(100 * net.rank() + i);
            if (by) all_gather(group{net}, all, *by);
            else all_gather(group{net}, all);
            if (all != std::vector<int>{0, 1, 2, 100, 101, 102, 200, 201, 202, 300, 301, 302})
                failures.add(name_of(by));
        });
        expect_none(failures);
    }
}

TEST_CASE("GRP-2: a group listed in descending order is gathered in that order") {
    failure_list failures;
    thread_fleet{4}.run([&](thread_transport& net) {
        if (net.rank() % 2 == 0) return;
        rank_id const order[] = {3, 1};
        std::vector<rank_id> const mine{net.rank()};
        std::vector<rank_id> all(2);
        all_gather(group{net}.subgroup(order), mine, all);
        if (all != std::vector<rank_id>{3, 1}) failures.add("wrong order");
    });
    expect_none(failures);
}

TEST_CASE("GRP-6: in place in the groups of even and of odd ranks") {
    for (chosen const& by : algorithms_for(collective::all_gather)) {
        failure_list failures;
        thread_fleet{6}.run([&](thread_transport& net) {
            rank_id const parity = net.rank() % 2;
            rank_id const order[] = {parity, parity + 2, parity + 4};
            group const members = group{net}.subgroup(order);
            for (std::size_t block : {2u, 33u}) {
                std::vector<std::size_t> expected;
                for (rank_id world : order)
                    for (std::size_t i = 0; i < block; ++i) expected.push_back(1000 * world + i);
                std::vector<std::size_t> all(3 * block, 7);
                for (std::size_t i = 0; i < block; ++i) all[block * members.rank() + i] = 1000 * net.rank() + i;
                if (by) all_gather(members, all, *by);
                else all_gather(members, all);
                if (all != expected) failures.add(name_of(by));
            }
        });
        expect_none(failures);
    }
}
