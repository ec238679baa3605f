// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/overlap/priority_all_reduce.hpp"

#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/schedule/algorithms.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::progress;
using chorus::rank_id;

namespace {

using layers = std::vector<std::vector<float>>;

auto const slow = [](rank_id p) { return suites::simulated_fleet{p, {.seed = 3 + p, .delay = 15, .rendezvous = true}}; };
auto const fast = [](rank_id p) { return suites::simulated_fleet{p, {.seed = 40 + p}}; };

std::size_t const counts[] = {10, 0, 31, 1, 64, 7, 25};

layers gradients_of(rank_id rank, std::uint64_t step) {
    layers all;
    for (std::size_t count : counts) {
        chorus::counter_random const random{chorus::counter_random::mix(1000 * step + 10 * rank + all.size())};
        all.emplace_back(count);
        for (std::size_t i = 0; i < count; ++i) all.back()[i] = static_cast<float>(random.unit(i) - 0.5);
    }
    return all;
}

std::vector<std::span<float>> spans_of(layers& all) { return {all.begin(), all.end()}; }

/// The numbers below `count` in an order drawn from the seed.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    chorus::counter_random const random{seed};
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(i, i))]);
    return order;
}

/// Plain BSP: slice after slice, each waited for.
template <class Group>
void reduce_in_turn(Group const& world, layers& all, std::size_t largest, chorus::compression const& how, std::vector<chorus::plan>& plans) {
    if (plans.empty())
        for (std::vector<float>& layer : all)
            for (std::size_t first = 0; first < layer.size(); first += largest)
                plans.push_back(plan_all_reduce(world, std::span{layer}.subspan(first, (std::min)(largest, layer.size() - first)), chorus::sum{},
                                                chorus::ring{}, {.carried_by = how.fresh()}));
    for (chorus::plan& each : plans) each.run();
}

/// Three steps, each rank with an order of its own; what came of them equals plain BSP in every bit, and all ranks had one order of slices.
auto const equals_bsp = [](std::uint64_t seed, chorus::priority_options const& options, std::vector<std::vector<std::size_t>>& orders) {
    return [=, &orders](auto& rank) {
        group world{rank.net()};
        layers mine = gradients_of(rank.me(), 0);
        layers plain = mine;
        std::vector<chorus::plan> plans;
        chorus::priority_all_reduce reduce{world, spans_of(mine), chorus::sum{}, chorus::ring{}, options};
        for (std::uint64_t step = 0; step < 3; ++step) {
            layers const fresh = gradients_of(rank.me(), step);
            for (std::size_t l = 0; l < fresh.size(); ++l) std::copy(fresh[l].begin(), fresh[l].end(), mine[l].begin());
            for (std::size_t l = 0; l < fresh.size(); ++l) std::copy(fresh[l].begin(), fresh[l].end(), plain[l].begin());
            std::uint64_t const order_seed = 100 * seed + 10 * step + rank.me();
            for (std::size_t layer : shuffled(mine.size(), order_seed)) {
                for (std::uint64_t i = 0; i < (order_seed + layer) % 5; ++i) reduce.advance();
                reduce.ready(layer);
            }
            for (std::size_t layer : shuffled(mine.size(), order_seed + 5)) reduce.wait_for(layer);
            rank.check(reduce.advance() == progress::done, "not done");
            reduce.finish();
            auto const order = reduce.order().order();
            orders[rank.me()].insert(orders[rank.me()].end(), order.begin(), order.end());
            reduce_in_turn(world, plain, options.slice, options.carried_by, plans);
            rank.check(mine == plain, "differs from plain BSP in step " + std::to_string(step));
        }
    };
};

void check_equality(std::uint64_t seed, rank_id p, chorus::priority_options const& options, bool is_slow) {
    std::vector<std::vector<std::size_t>> orders(p);
    if (is_slow) suites::hold("slow", slow, p, equals_bsp(seed, options, orders));
    else suites::hold("fast", fast, p, equals_bsp(seed, options, orders));
    for (rank_id r = 1; r < p; ++r) CHECK_MESSAGE(orders[r] == orders[0], "rank ", r, " of ", p, " had an order of its own, seed ", seed);
}

}  // namespace

TEST_CASE("NBL-1: whatever the order in which ranks make layers ready and wait, nothing hangs and every bit is that of plain BSP") {
    suites::watchdog const guard{60};
    for (rank_id p = 1; p <= 9; ++p)
        for (std::uint64_t seed = 0; seed < 6; ++seed)
            check_equality(seed, p, {.slice = seed % 2 == 0 ? std::size_t{8} : std::size_t{40'000}, .window = 1 + seed % 4}, seed % 3 == 0);
}

TEST_CASE("compressed slices keep residuals of their own, as plans one by one do") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 2u, 3u, 5u}) {
        chorus::compression const how{chorus::error_feedback{chorus::top_k{0.3}}};
        check_equality(7, p, {.slice = 20, .carried_by = how}, true);
    }
}

TEST_CASE("a layer that becomes ready passes all slices but those that were granted and one grant more") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 2u, 4u, 7u})
        for (std::size_t window = 1; window <= 4; ++window) {
            std::vector<std::size_t> granted(p), place(p), open(p);
            suites::hold("passes", slow, p, [&](auto& rank) {
                group world{rank.net()};
                std::vector<float> first(8, 1.0f), last(400, 2.0f);
                chorus::priority_all_reduce reduce{world, std::vector<std::span<float>>{first, last}, chorus::sum{}, chorus::ring{}, {.slice = 8, .window = window}};
                reduce.ready(1);
                for (rank_id turn = 0; turn < 20 + 10 * rank.me() && reduce.order().order().size() < 20; ++turn) reduce.advance();
                granted[rank.me()] = reduce.order().order().size();
                reduce.ready(0);
                reduce.finish();
                auto const order = reduce.order().order();
                place[rank.me()] = static_cast<std::size_t>(std::find(order.begin(), order.end(), std::size_t{0}) - order.begin());
                rank.check(first == std::vector<float>(8, static_cast<float>(p)) && last == std::vector<float>(400, 2.0f * static_cast<float>(p)), "wrong sum");
            });
            std::size_t const most = *std::max_element(granted.begin(), granted.end()) + window;
            for (rank_id r = 0; r < p; ++r) CHECK_MESSAGE(place[r] <= most, "rank ", r, ": place ", place[r], ", expected at most ", most);
            if (p > 1) CHECK(most < 50);
        }
}

TEST_CASE("layers are waited for one by one: the first may be complete while later ones are not even ready") {
    suites::watchdog const guard{60};
    for (rank_id p = 1; p <= 5; ++p)
        suites::hold("one by one", slow, p, [](auto& rank) {
            group world{rank.net()};
            std::vector<float> a(20), b(30);
            chorus::priority_all_reduce reduce{world, std::vector<std::span<float>>{a, b}, chorus::sum{}, chorus::ring{}, {.slice = 7}};
            auto const ranks = static_cast<float>(rank.size());
            for (int step = 1; step <= 3; ++step) {
                a.assign(20, static_cast<float>(step));
                reduce.ready(0);
                reduce.wait_for(0);
                reduce.wait_for(0);
                rank.check(a == std::vector<float>(20, ranks * static_cast<float>(step)), "the first layer");
                suites::expect_error(rank, errc::invalid_argument, {"layer 0 is ready twice", "1 layers have not been waited for"}, [&] { reduce.ready(0); });
                b.assign(30, static_cast<float>(2 * step));
                reduce.ready(1);
                reduce.finish();
                rank.check(a == std::vector<float>(20, ranks * static_cast<float>(step)) && b == std::vector<float>(30, 2 * ranks * static_cast<float>(step)), "both layers");
            }
        });
}

TEST_CASE("what is asked wrongly is refused, and nothing is lost") {
    suites::hold("refused", fast, 2, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(3, 1.0f), none;
        chorus::priority_all_reduce reduce{world, std::vector<std::span<float>>{v, none}, chorus::sum{}, chorus::ring{}};
        suites::expect_error(rank, errc::invalid_argument, {"rank", "layer 2 of 2"}, [&] { reduce.ready(2); });
        suites::expect_error(rank, errc::invalid_argument, {"layer 0", "was not made ready"}, [&] { reduce.wait_for(0); });
        reduce.ready(0);
        suites::expect_error(rank, errc::invalid_argument, {"layer 0 is ready twice"}, [&] { reduce.ready(0); });
        suites::expect_error(rank, errc::invalid_argument, {"layer 1", "was not made ready"}, [&] { reduce.finish(); });
        reduce.ready(1);
        reduce.finish();
        rank.check(v == std::vector<float>(3, 2.0f), "wrong sum");
        rank.check(reduce.describe().find("2 layers in 1 slices, 2 under way; the first: all_reduce #1 of 3 float sum") != std::string::npos, reduce.describe());
        chorus::priority_all_reduce nothing{world, std::vector<std::span<float>>{}, chorus::sum{}, chorus::ring{}};
        nothing.finish();
        rank.check(nothing.advance() == progress::done, "nothing is done");
    });
    for (auto const& wrong : {chorus::priority_options{.slice = 0}, chorus::priority_options{.window = 0}, chorus::priority_options{.window = 65}})
        suites::hold("refused", fast, 2, [&](auto& rank) {
            group world{rank.net()};
            std::vector<float> v(3, 1.0f);
            suites::expect_error(rank, errc::invalid_argument, {"expected at least 1, and 1 … 64"},
                                 [&] { chorus::priority_all_reduce{world, std::vector<std::span<float>>{v}, chorus::sum{}, chorus::ring{}, wrong}; });
        });
}

TEST_CASE("ranks that were asked differently all learn of it") {
    suites::watchdog const guard{60};
    chorus::priority_options const asked[] = {{.slice = 8}, {.slice = 9}, {.slice = 8, .window = 3}, {.slice = 8}};
    for (std::size_t other = 1; other < 4; ++other)
        suites::hold("differ", fast, 3, [&](auto& rank) {
            auto const world = group{rank.net()}.within(std::chrono::seconds{10});
            std::vector<float> v(other == 3 && rank.me() == 1 ? 41 : 40, 1.0f);
            chorus::priority_all_reduce reduce{world, std::vector<std::span<float>>{v}, chorus::sum{}, chorus::ring{}, asked[rank.me() == 1 ? other : 0]};
            auto const wrong = suites::error_of([&] {
                reduce.ready(0);
                reduce.finish();
            });
            rank.check(wrong && wrong->code() == errc::mismatch, wrong ? wrong->what() : "no error");
        }, suites::ending::may_abort);
}

TEST_CASE("ranks that wait for different layers end at the deadline, with what was ready") {
    suites::watchdog const guard{60};
    suites::hold("apart", fast, 2, [](auto& rank) {
        auto const world = group{rank.net()}.within(std::chrono::milliseconds{200});
        std::vector<float> a(10), b(10);
        chorus::priority_all_reduce reduce{world, std::vector<std::span<float>>{a, b}, chorus::sum{}, chorus::ring{}};
        auto const wrong = suites::error_of([&] {
            reduce.ready(rank.me());
            reduce.wait_for(rank.me());
        });
        rank.check(wrong && wrong->code() == errc::timed_out, wrong ? wrong->what() : "no error");
        if (wrong) rank.check(wrong->message().find("no layer ready in common. Ready here and not complete: ") != std::string_view::npos, wrong->what());
        rank.check(reduce.advance() == progress::failed, "has not failed");
        suites::expect_error(rank, errc::timed_out, {}, [&] { reduce.ready(1 - rank.me()); });
    }, suites::ending::may_abort);
}
