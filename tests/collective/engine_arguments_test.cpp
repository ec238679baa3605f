// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/engine.hpp"

#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/all_to_all.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/broadcast.hpp"
#include "chorus/collective/gather.hpp"
#include "chorus/collective/reduce.hpp"
#include "chorus/collective/reduce_scatter.hpp"
#include "chorus/collective/scatter.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/watchdog.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::group;
using chorus::rank_id;

namespace {

auto const make = [](rank_id p) { return chorus::thread_fleet{p}; };

// Rank 1 makes a bad call while the others wait in a barrier: rank 1 gets the error, the others are told of it.
template <class Call>
void expect_refusal(char const* name, errc code, std::initializer_list<std::string_view> words, Call const& call) {
    suites::watchdog const guard{60};
    suites::failure_list ended;
    suites::hold(
        name, make, 3,
        [&](auto& rank) {
            group world{rank.net()};
            if (rank.me() == 1) {
                suites::expect_error(rank, code, words, [&] { call(world); });
                suites::expect_error(rank, errc::poisoned, words, [&] { chorus::barrier(world); });
            } else {
                suites::expect_error(rank, code, {"rank 1 reports"}, [&] { chorus::barrier(world); });
            }
            ended.add("one");
        },
        suites::ending::may_abort);
    CHECK_MESSAGE(ended.texts().size() == 3, name);
}

std::span<double> const null_with_count{static_cast<double*>(nullptr), 5};

}  // namespace

TEST_CASE("a root that is not in the group is refused by the rank that named it") {
    std::vector<float> v(4);
    std::vector<float> w(12);
    auto const words = {std::string_view{"rank 1"}, std::string_view{"root 3"}, std::string_view{"size 3"}};
    expect_refusal("broadcast", errc::invalid_argument, words, [&](auto& world) { broadcast(world, v, rank_id{3}); });
    expect_refusal("reduce", errc::invalid_argument, words,
                   [&](auto& world) { reduce(world, v, rank_id{3}, chorus::sum{}); });
    expect_refusal("gather", errc::invalid_argument, words, [&](auto& world) { gather(world, v, w, rank_id{3}); });
    expect_refusal("scatter", errc::invalid_argument, words, [&](auto& world) { scatter(world, w, v, rank_id{3}); });
}

TEST_CASE("null with a count is refused, null without is not") {
    auto const words = {std::string_view{"rank 1"}, std::string_view{"null"}, std::string_view{"5"}};
    expect_refusal("all_reduce", errc::invalid_argument, words,
                   [&](auto& world) { all_reduce(world, null_with_count, chorus::sum{}); });
    expect_refusal("broadcast", errc::invalid_argument, words,
                   [&](auto& world) { broadcast(world, null_with_count, rank_id{0}); });
    suites::hold("empty", make, 3, [](auto& rank) {
        group world{rank.net()};
        all_reduce(world, std::span<double>{}, chorus::sum{});
        broadcast(world, std::span<double>{}, rank_id{0});
        reduce_scatter(world, std::span<double>{}, std::span<double>{}, chorus::sum{});
    });
}

TEST_CASE("buffers that overlap by part are refused") {
    std::vector<float> v(10);
    std::span const all{v};
    auto const words = {std::string_view{"rank 1"}, std::string_view{"overlap"}};
    expect_refusal("all_reduce", errc::invalid_argument, words,
                   [&](auto& world) { all_reduce(world, all.first(9), all.last(9), chorus::sum{}); });
    expect_refusal("all_gather", errc::invalid_argument, words,
                   [&](auto& world) { all_gather(world, all.first(3), all.first(9)); });
    expect_refusal("all_to_all", errc::invalid_argument, words,
                   [&](auto& world) { all_to_all(world, all.first(9), all.first(9)); });
}

TEST_CASE("counts that do not fit one another are refused with both numbers") {
    std::vector<float> three(3);
    std::vector<float> four(4);
    std::vector<std::uint64_t> const two_counts{1, 2};
    std::vector<std::uint64_t> const one_each{1, 1, 1};
    std::vector<std::uint64_t> const more_for_one{1, 2, 1};
    expect_refusal("all_to_all_v", errc::invalid_argument, {"rank 1", "sends 1 elements to itself and expects 2"},
                   [&](auto& world) {
                       all_to_all_v(world, three, std::span<std::uint64_t const>{one_each}, four,
                                    std::span<std::uint64_t const>{more_for_one});
                   });
    expect_refusal("all_reduce", errc::invalid_argument, {"rank 1", "3 elements", "expected 4"},
                   [&](auto& world) { all_reduce(world, three, four, chorus::sum{}); });
    expect_refusal("all_gather", errc::invalid_argument, {"rank 1", "4 elements", "expected 9"},
                   [&](auto& world) { all_gather(world, three, four); });
    expect_refusal("all_gather_v", errc::invalid_argument, {"rank 1", "2 entries", "3"}, [&](auto& world) {
        all_gather_v(world, three, four, std::span<std::uint64_t const>{two_counts});
    });
    expect_refusal("all_to_all_v", errc::invalid_argument, {"rank 1", "2 entries", "3"}, [&](auto& world) {
        all_to_all_v(world, three, std::span<std::uint64_t const>{two_counts}, four,
                     std::span<std::uint64_t const>{two_counts});
    });
}

TEST_CASE("sizes that overflow are refused before memory is touched") {
    std::vector<double> v(1);
    for (int shift : {58, 61, 62, 63}) {
        std::size_t const count = std::size_t{1} << shift;
        std::span<double> const huge{v.data(), count};
        expect_refusal("all_reduce", errc::too_large, {std::to_string(count), "8 bytes"},
                       [&](auto& world) { all_reduce(world, huge, chorus::sum{}); });
        expect_refusal("mean", errc::too_large, {std::to_string(count)},
                       [&](auto& world) { all_reduce(world, huge, chorus::mean{}); });
        expect_refusal("broadcast", errc::too_large, {std::to_string(count), "8 bytes"},
                       [&](auto& world) { broadcast(world, huge, rank_id{0}); });
    }
}

TEST_CASE("a refusal on a single rank harms nobody, and the group stays good") {
    suites::hold("alone", make, 1, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(4);
        suites::expect_error(rank, errc::invalid_argument, {"root 1"}, [&] { broadcast(world, v, rank_id{1}); });
        broadcast(world, v, rank_id{0});
    });
}

TEST_CASE("an algorithm that does not keep the order is refused for what may not commute") {
    expect_refusal("ring", errc::unsupported, {"commute", "ring"}, [](auto& world) {
        std::vector<float> v(4);
        all_reduce(world, v, [](float a, float) { return a; }, chorus::ring{});
    });
}
