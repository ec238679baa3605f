// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_reduce.hpp"

#include "suites/execution_suite.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

using namespace chorus;
using namespace suites;

TEST_CASE("WSZ-1, WSZ-6, WSZ-8, ZER-1: all_reduce by every algorithm, 1 to 17 ranks, edge counts, integers") {
    check_grid<collective::all_reduce, std::int32_t>(sizes_up_to(17));
}

TEST_CASE("all_reduce by every algorithm on doubles") { check_grid<collective::all_reduce, double>({2, 3, 5, 8, 13}); }

TEST_CASE("all_reduce of structs by an operation that does not commute keeps the order of ranks") {
    check_grid<collective::all_reduce, triangle, matrix_product>({1, 2, 3, 4, 5, 6, 7, 8, 11, 16});
}

TEST_CASE("all_reduce on threads crosses the limits of message kinds") {
    check_threads<collective::all_reduce, float>();
}

TEST_CASE("all_reduce on transports that do not reduce") { check_plain_transport<collective::all_reduce>(); }

TEST_CASE("all_reduce refuses an operation that may not commute where the order of ranks is lost") {
    check_order_is_demanded<collective::all_reduce>();
}

TEST_CASE("WSZ-7, NBL-2: all_reduce on a single rank") { check_single_rank<collective::all_reduce, std::int32_t>(); }

TEST_CASE("all_reduce of structs by an operation that is promised to commute works by every algorithm") {
    check_grid<collective::all_reduce, triangle, commutative<elementwise>>({1, 2, 3, 5, 8, 9});
}

TEST_CASE("INP-1: in place, four ranks, blocking on threads") {
    for (chosen const& by : algorithms_for(collective::all_reduce)) {
        failure_list failures;
        thread_fleet{4}.run([&](thread_transport& net) {
            double const rank = net.rank();
            double values[] = {rank, net.rank() == 0 ? 0 : 1 / rank};
            if (by) all_reduce(group{net}, values, sum{}, *by);
            else all_reduce(group{net}, values, sum{});
            if (values[0] != 6 || std::fabs(values[1] - 1.8333333333333333) > 1e-15) failures.add(name_of(by));
        });
        CHECK_MESSAGE(failures.texts().empty(), name_of(by));
    }
}

TEST_CASE("INP-1: in place, four ranks, driven by advance") {
    for (chosen const& by : algorithms_for(collective::all_reduce)) {
        INFO(name_of(by));
        simulated_network network{4};
        std::vector<std::vector<double>> values{{0, 0}, {1, 1}, {2, 1.0 / 2}, {3, 1.0 / 3}};
        std::vector<plan> plans;
        std::vector<plan*> addresses;
        for (rank_id r = 0; r < 4; ++r) {
            group const members{network.endpoint(r)};
            plans.push_back(by ? plan_all_reduce(members, values[r], sum{}, *by)
                               : plan_all_reduce(members, values[r], sum{}));
        }
        for (plan& work : plans) work.start();
        for (plan& work : plans) addresses.push_back(&work);
        REQUIRE(drive(addresses) == progress::done);
        for (auto const& own : values) {
            CHECK(own[0] == 6);
            CHECK(std::fabs(own[1] - 1.8333333333333333) <= 1e-15);
        }
    }
}

TEST_CASE("INP-5: the same memory as input and output is in place; a shifted overlap is refused on every rank") {
    simulated_network network{3};
    oracle<std::int32_t, sum> const known{3, 1031, 1};
    auto values = known.inputs(0);
    std::vector<plan> plans;
    std::vector<plan*> addresses;
    for (rank_id r = 0; r < 3; ++r)
        plans.push_back(plan_all_reduce(group{network.endpoint(r)}, values[r], values[r], sum{}, ring{}));
    for (plan& work : plans) work.start();
    for (plan& work : plans) addresses.push_back(&work);
    REQUIRE(drive(addresses) == progress::done);
    for (auto const& own : values) CHECK(own == known.total(0));

    for (rank_id r = 0; r < 3; ++r) {
        std::span<std::int32_t> const memory = values[r];
        try {
            plan_all_reduce(group{network.endpoint(r)}, memory.first(8), memory.subspan(1, 8), sum{}, ring{});
            FAIL_CHECK("accepted on rank ", r);
        } catch (error const& refused) { CHECK(refused.code() == errc::invalid_argument); }
    }
}

TEST_CASE("WSZ-7: the mean over one rank is its value") {
    self_transport net;
    std::vector<float> values{0.1f, -3e38f, 1e-44f};
    std::vector<float> const before = values;
    for (chosen const& by : algorithms_for(collective::all_reduce)) {
        if (by) all_reduce(group{net}, values, mean{}, *by);
        else all_reduce(group{net}, values, mean{});
        CHECK(values == before);
    }
}

TEST_CASE("NBL-1: a blocking call while a started plan is not complete") {
    failure_list failures;
    thread_fleet{2}.run([&](thread_transport& net) {
        group const members{net};
        std::vector<int> early{1};
        std::vector<int> late{1};
        plan work = plan_all_reduce(members, early, sum{});
        work.start();
        all_reduce(members, late, sum{});
        work.wait();
        if (early[0] != 2 || late[0] != 2) failures.add("not 2 and 2");
    });
    expect_none(failures);
}

TEST_CASE("GRP-3: groups whose width does not divide the world: every rank is in one") {
    for (rank_id world : {5u, 7u})
        for (rank_id width : {2u, 3u}) {
            failure_list failures;
            thread_fleet{world}.run([&](thread_transport& net) {
                group const members = group{net}.split_into(width);
                std::vector<rank_id> counted{1, net.rank()};
                all_reduce(members, counted, sum{});
                rank_id const first = net.rank() / width * width;
                rank_id const many = (std::min)(width, world - first);
                if (counted[0] != many || counted[1] != many * first + many * (many - 1) / 2)
                    failures.add("wrong group");
            });
            CHECK_MESSAGE(failures.texts().empty(), world, " ranks in groups of ", width);
        }
}
