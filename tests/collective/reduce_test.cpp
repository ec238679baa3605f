// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/reduce.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-8, ZER-1: reduce by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::reduce, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("reduce by every algorithm on doubles") { check_grid<collective::reduce, double>({2, 3, 5, 8, 13}); }

TEST_CASE("reduce of structs by an operation that does not commute keeps the order of ranks") {
    check_grid<collective::reduce, triangle, matrix_product>({1, 2, 3, 4, 5, 6, 7, 8, 11, 16});
}

TEST_CASE("reduce on threads crosses the limits of message kinds") { check_threads<collective::reduce, float>(); }

TEST_CASE("reduce on transports that do not reduce") { check_plain_transport<collective::reduce>(); }

TEST_CASE("WSZ-7, NBL-2: reduce on a single rank") { check_single_rank<collective::reduce, std::int32_t>(); }

TEST_CASE("INP-6: no target where the rank is not the root, 20 calls by every algorithm") {
    for (rank_id p : {2u, 3u, 4u})
        for (chosen const& by : algorithms_for(collective::reduce)) {
            failure_list failures;
            thread_fleet{p}.run([&](thread_transport& net) {
                group const members{net};
                for (int call = 0; call < 20; ++call) {
                    std::vector<int> const input(5, call + static_cast<int>(net.rank()));
                    std::vector<int> output(5);
                    bool const is_root = net.rank() == p - 1;
                    std::span<int> const target = is_root ? std::span{output} : std::span<int>{};
                    if (by) reduce(members, input, target, p - 1, sum{}, *by);
                    else reduce(members, input, target, p - 1, sum{});
                    int const total = call * static_cast<int>(p) + static_cast<int>(p * (p - 1) / 2);
                    if (output != std::vector<int>(5, is_root ? total : 0))
                        failures.add("wrong in call " + std::to_string(call));
                }
            });
            INFO(name_of(by), " p=", p);
            expect_none(failures);
        }
}
