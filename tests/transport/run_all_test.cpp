// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/run_all.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include <doctest/doctest.h>

using chorus::progress;

TEST_CASE("run_all drives each callable until it has ended, and never again") {
    for (std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{9}}) {
        std::vector<int> calls(20, 0);
        std::vector<std::function<progress()>> ranks;
        for (int r = 0; r < 20; ++r)
            ranks.emplace_back([&calls, r] {
                int const call = ++calls[static_cast<std::size_t>(r)];
                if (call <= r) return call % 2 == 0 ? progress::idle : progress::moved;
                return r == 13 ? progress::failed : progress::done;
            });
        CHECK(chorus::run_all(std::span{ranks}, {.seed = seed}) == progress::failed);
        for (int r = 0; r < 20; ++r) CHECK(calls[static_cast<std::size_t>(r)] == r + 1);
    }
    std::vector<std::function<progress()>> stuck{[] { return progress::idle; }};
    CHECK(chorus::run_all(std::span{stuck}, {.idle_rounds = 10}) == progress::idle);
    CHECK(chorus::run_all(std::span{stuck}.first(0)) == progress::done);
}

TEST_CASE("without a seed ranks take turns in order; with one, in an order that it decides") {
    auto order_of = [](std::uint64_t seed) {
        std::vector<int> order;
        std::vector<std::function<progress()>> ranks;
        for (int r = 0; r < 6; ++r)
            ranks.emplace_back([&order, r] {
                order.push_back(r);
                return progress::done;
            });
        chorus::run_all(std::span{ranks}, {.seed = seed});
        return order;
    };
    CHECK(order_of(0) == std::vector<int>{0, 1, 2, 3, 4, 5});
    std::set<std::vector<int>> orders;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CHECK(order_of(seed) == order_of(seed));
        orders.insert(order_of(seed));
    }
    CHECK(orders.size() > 15);
}
