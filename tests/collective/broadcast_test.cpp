// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/broadcast.hpp"

#include "suites/execution_suite.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-2, ZER-1: broadcast by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::broadcast, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("broadcast of structs of 12 bytes") {
    check_grid<collective::broadcast, triangle, matrix_product>({1, 3, 4, 7});
}

TEST_CASE("broadcast on threads crosses the limits of message kinds") { check_threads<collective::broadcast, float>(); }

TEST_CASE("WSZ-7, NBL-2: broadcast on a single rank") { check_single_rank<collective::broadcast, std::int32_t>(); }

TEST_CASE("WSZ-2: vectors that do not fill the blocks of a scatter and all-gather, every root") {
    auto const check = []<class T>(std::vector<T> const& sent, rank_id size) {
        for (rank_id root = 0; root < size; ++root) {
            failure_list failures;
            thread_fleet{size}.run([&](thread_transport& net) {
                std::vector<T> values(sent.size());
                if (net.rank() == root) values = sent;
                broadcast(group{net}, values, root, scatter_all_gather{});
                if (values != sent) failures.add("wrong values");
            });
            INFO(size, " ranks, root ", root);
            expect_none(failures);
        }
    };
    check(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 8);
    check(std::vector<std::uint8_t>{11, 12, 13, 14, 15}, 8);
    check(std::vector<int>{21, 22, 23, 24, 25, 26, 27, 28, 29}, 4);
}

TEST_CASE("GRP-1: a root is a rank of the group, and one beyond it is refused on every member") {
    rank_id const order[] = {1, 3};
    failure_list failures;
    thread_fleet{4}.run([&](thread_transport& net) {
        if (net.rank() % 2 == 0) return;
        group const members = group{net}.subgroup(order);
        for (rank_id root : {0u, 1u}) {
            std::vector<rank_id> value{net.rank()};
            broadcast(members, value, root);
            if (value[0] != order[root]) failures.add("not the value of group rank " + std::to_string(root));
        }
    });
    thread_fleet{4}.run([&](thread_transport& net) {
        if (net.rank() % 2 == 0) return;
        try {
            std::vector<rank_id> value{net.rank()};
            broadcast(group{net}.subgroup(order), value, 3);
            failures.add("root 3 is accepted");
        } catch (error const& refused) {
            if (refused.code() != errc::invalid_argument) failures.add(refused.what());
        }
    });
    expect_none(failures);
}
