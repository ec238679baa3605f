// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/sparse_averaging.hpp"

#include "chorus/transport/thread.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::group;
using chorus::rank_id;
using chorus::sparse_averaging;

namespace {

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };

/// What rank r starts with: the mean over any number of ranks is exact.
double value_of(rank_id rank, std::size_t element, rank_id ranks) { return static_cast<double>(ranks * ((rank + 3) * (element + 1) % 101)); }

double mean_of(std::size_t element, rank_id ranks) {
    double total = 0;
    for (rank_id r = 0; r < ranks; ++r) total += value_of(r, element, ranks);
    return total / ranks;
}

std::vector<double> start_of(rank_id rank, std::size_t count, rank_id ranks) {
    std::vector<double> v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = value_of(rank, i, ranks);
    return v;
}

std::vector<double> means_of(std::size_t count, rank_id ranks) {
    std::vector<double> v(count);
    for (std::size_t i = 0; i < count; ++i) v[i] = mean_of(i, ranks);
    return v;
}

}  // namespace

TEST_CASE("all elements and no delay: the mean of the parameters, to the bit") {
    for (rank_id p = 1; p <= 17; ++p)
        suites::hold("full", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            std::vector<float> v(50), plain(50);
            for (std::size_t i = 0; i < v.size(); ++i) v[i] = plain[i] = 1.0f / static_cast<float>(rank.me() * 50 + i + 1);
            sparse_averaging average{world, std::span{v}, chorus::bernoulli_mask{.keep = 1}};
            average.step();
            chorus::all_reduce(world, plain, chorus::mean{});
            rank.check(v == plain, "not the same bits");
        });
}

TEST_CASE("a cycle brings every element to its mean, each once, and touches no other meanwhile") {
    suites::watchdog const guard{60};
    for (rank_id p = 1; p <= 17; ++p)
        for (std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{p + 1}, std::size_t{97}})
            suites::hold("cycle", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                auto v = start_of(rank.me(), count, p);
                std::span const all{v};
                std::vector<std::span<double>> const parts{all.first(count / 3), {}, all.subspan(count / 3)};
                chorus::reshuffled_chunks const mask{.keep = 0.25, .seed = p};
                sparse_averaging average{world, parts, mask, {.first_step = 8}};
                std::vector<std::uint64_t> indices;
                std::vector<bool> is_averaged(count, false);
                for (chorus::step_id t = 8; t < 12; ++t) {
                    mask.at(t, count, indices);
                    for (std::uint64_t i : indices) is_averaged[i] = true;
                    average.step();
                    for (std::size_t i = 0; i < count; ++i)
                        rank.check(v[i] == (is_averaged[i] ? mean_of(i, p) : value_of(rank.me(), i, p)), "step " + std::to_string(t));
                }
                rank.check(average.elements_sent() == count, std::to_string(average.elements_sent()));
                rank.check(average.steps() == 12, "steps");
            });
}

TEST_CASE("what arrives late keeps the mean of the ranks, whatever they do meanwhile") {
    suites::watchdog const guard{60};
    for (rank_id p : {1u, 2u, 3u, 4u, 7u, 8u, 16u})
        for (std::uint32_t delay : {0u, 1u, 2u, 5u}) {
            constexpr std::size_t count = 40;
            std::vector<double> total(count, 0.0), wanted(count, 0.0);
            suites::hold("late", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                auto v = start_of(rank.me(), count, p);
                std::vector<double> moved(v);
                sparse_averaging average{world, std::span{v}, chorus::bernoulli_mask{.keep = 0.3, .seed = 5}, {.delay = delay}};
                for (int t = 0; t < 12; ++t) {
                    for (std::size_t i = 0; i < count; ++i) {
                        double const local = static_cast<double>((rank.me() + 1) * (i + 2) % 13) - 6;
                        v[i] += local;
                        moved[i] += local;
                    }
                    average.step();
                    average.advance();
                }
                average.finish();
                for (std::size_t i = 0; i < count; ++i) {  // ranks run one at a time
                    total[i] += v[i];
                    wanted[i] += moved[i];
                }
            });
            for (std::size_t i = 0; i < count; ++i) CHECK(std::abs(total[i] - wanted[i]) < 1e-9 * p * 2000);
        }
}

TEST_CASE("late averages of everything settle on the mean at once and stay, however late") {
    for (rank_id p : {2u, 5u, 8u})
        for (std::uint32_t delay : {1u, 2u, 3u, 6u})
            suites::hold("settles", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                auto v = start_of(rank.me(), 20, p);
                sparse_averaging average{world, std::span{v}, chorus::bernoulli_mask{.keep = 1}, {.delay = delay}};
                for (std::uint32_t t = 0; t <= delay + 10; ++t) {
                    average.step();
                    rank.check(v == (t < delay ? start_of(rank.me(), 20, p) : means_of(20, p)), "step " + std::to_string(t));
                }
                average.finish();
                rank.check(v == means_of(20, p), "at the end");
            });
}

TEST_CASE("bytes fall with the share; between threads as well") {
    suites::watchdog const guard{60};
    suites::hold("threads", [](rank_id p) { return chorus::thread_fleet{p}; }, 4, [](auto& rank) {
        group world{rank.net()};
        std::vector<float> v(4000, static_cast<float>(rank.me()));
        sparse_averaging average{world, std::span{v}, chorus::shuffled_chunks{.keep = 0.01}, {.delay = 3}};
        for (int t = 0; t < 100; ++t) average.step();
        average.finish();
        rank.check(v == std::vector<float>(4000, 1.5f), "the mean");
        rank.check(average.elements_sent() == 4000, std::to_string(average.elements_sent()));
        std::vector<float> once(4000);
        auto const all = chorus::plan_all_reduce(world, once, chorus::mean{});
        rank.check(average.bytes_sent() <= 2 * all.bytes_sent(), "a cycle sends as much as one mean of all, for small messages twice that");
    });
}
