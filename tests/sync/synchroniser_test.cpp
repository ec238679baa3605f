// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/synchroniser.hpp"

#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/sync/every_step.hpp"
#include "chorus/sync/grid_groups.hpp"
#include "chorus/sync/local_steps.hpp"
#include "suites/expected_error.hpp"
#include "suites/replica_training.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::group;
using chorus::rank_id;
using chorus::step_id;
using chorus::synchroniser;

namespace {

auto const simulated = [](rank_id p) { return suites::simulated_fleet{p}; };

/// Everybody, rank r with weight (r + 1) / (1 + … + p).
struct by_rank {
    static constexpr std::string_view name = "by_rank";
    chorus::membership at(step_id, rank_id, rank_id size) const {
        chorus::membership all;
        for (rank_id r = 0; r < size; ++r) {
            all.members.push_back(r);
            all.weights.push_back(2.0 * (r + 1) / (size * (size + 1.0)));
        }
        return all;
    }
    step_id period(rank_id) const { return 1; }
};

}  // namespace

TEST_CASE("one group of all is a mean of the parameters after each step, to the bit") {
    suites::watchdog const guard{60};
    for (rank_id p = 1; p <= 17; ++p)
        suites::hold("BSP", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            suites::replica mine{rank.me()}, plain{rank.me()};
            synchroniser sync{world, mine.tensors(), chorus::every_step{}, chorus::synchroniser_options{.bucket_bytes = 0}};
            for (step_id t = 0; t < 3; ++t) {
                mine.update(t);
                sync.step();
                plain.update(t);
                for (std::span<double> tensor : plain.tensors()) chorus::all_reduce(world, tensor, chorus::mean{});
            }
            rank.check(mine.values == plain.values, "not the same bits");
        });
}

TEST_CASE("local steps of period 1 are every step, and averages come at the steps 3, 7, 11 of period 4 whatever the number of tensors (SYN-1)") {
    for (rank_id p : {1u, 2u, 5u})
        suites::hold("local steps", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            auto const at_each = suites::trained(rank.me(), 5, [&](auto tensors) { return synchroniser{world, tensors, chorus::every_step{}}; });
            auto const of_one = suites::trained(rank.me(), 5, [&](auto tensors) { return synchroniser{world, tensors, chorus::local_steps{.period = 1}}; });
            rank.check(at_each == of_one, "period 1 is not every step");
            suites::replica mine{rank.me()};
            synchroniser sync{world, mine.tensors(), chorus::local_steps{.period = 4}};
            for (step_id t = 0; t < 12; ++t) {
                bool const is_due = t % 4 == 3 && p > 1;
                auto const report = sync.step();
                rank.check(report.has_merged == is_due && (report.members == p) == (is_due || p == 1), "step " + std::to_string(t));
            }
            rank.check(sync.totals().exchanges == (p > 1 ? 3 : 0), "exchanges");
        });
}

TEST_CASE("a grid reaches the exact mean in one period, and needs a plan per group only") {
    for (rank_id p : {4u, 8u, 9u, 12u})
        suites::hold("grid", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            std::vector<double> v(5);
            for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(p * ((rank.me() + 1) * (i + 2) % 11));
            synchroniser sync{world, std::vector{std::span{v}}, chorus::grid_groups{}};
            step_id const period = chorus::grid_groups{}.period(p);
            for (step_id t = 0; t < 3 * period; ++t) sync.step();
            for (std::size_t i = 0; i < v.size(); ++i) {
                double total = 0;
                for (rank_id r = 0; r < p; ++r) total += static_cast<double>(p * ((r + 1) * (i + 2) % 11));
                rank.check(v[i] == total / p, "element " + std::to_string(i));
            }
            rank.check(sync.totals().groups == period, "groups");
        });
}

TEST_CASE("how tensors are packed, and in which order each rank has them ready, changes nothing") {
    suites::watchdog const guard{60};
    for (rank_id p : {2u, 3u, 6u})
        for (std::size_t bytes : {std::size_t{0}, std::size_t{40}, std::size_t{1} << 20})
            suites::hold("ready", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                std::vector<std::vector<double>> v(6, std::vector<double>(4));
                std::vector<std::span<double>> tensors;
                for (std::size_t i = 0; i < v.size(); ++i) {
                    for (double& x : v[i]) x = static_cast<double>(p * (rank.me() + 1) * (i + 1));
                    tensors.emplace_back(v[i]);
                }
                synchroniser sync{world, tensors, chorus::every_step{}, chorus::synchroniser_options{.bucket_bytes = bytes}};
                for (std::size_t k = 0; k + 1 < v.size(); ++k) sync.ready((k * 5 + rank.me()) % v.size());
                for (int turn = 0; turn < 20; ++turn) sync.advance();
                auto const report = sync.finish();
                for (std::size_t i = 0; i < v.size(); ++i)
                    for (double x : v[i]) rank.check(x == static_cast<double>((i + 1) * p * (p + 1) / 2), "tensor " + std::to_string(i));
                rank.check(report.bytes_sent > 0 && report.bytes_sent == sync.totals().bytes_sent, "bytes");
            });
}

TEST_CASE("two parameter groups in one loop count steps each for itself (SYN-1)") {
    suites::hold("parameter groups", simulated, 3, [](auto& rank) {
        group world{rank.net()};
        suites::replica weights{rank.me()}, biases{rank.me(), 7};
        synchroniser of_weights{world, weights.tensors(), chorus::local_steps{.period = 4}}, of_biases{world, biases.tensors(), chorus::local_steps{.period = 4}};
        for (step_id t = 0; t < 12; ++t) {
            for (auto const& report : {of_weights.step(), of_biases.step()}) rank.check(report.has_merged == (t % 4 == 3) && report.step == t, "step " + std::to_string(t));
        }
        rank.check(of_weights.totals().exchanges == 3 && of_biases.totals().exchanges == 3, "exchanges");
    });
}

TEST_CASE("a tensor without a value on one rank in one step counts as zeros there, and holds the average afterwards (SYN-2)") {
    for (std::size_t bytes : {std::size_t{0}, std::size_t{1} << 20})
        suites::hold("absent", simulated, 4, [&](auto& rank) {
            group world{rank.net()};
            std::vector<double> a(3), b(3);
            synchroniser sync{world, std::vector{std::span{a}, std::span{b}}, chorus::every_step{}, chorus::synchroniser_options{.bucket_bytes = bytes}};
            for (step_id t = 0; t < 4; ++t) {
                a.assign(3, 4.0 * rank.me());
                b.assign(3, 8.0);
                if (rank.me() == 1 && t == 2) sync.absent(1);
                sync.finish();
                rank.check(a == std::vector<double>(3, 6.0), "the other tensor");
                rank.check(b == std::vector<double>(3, t == 2 ? 6.0 : 8.0), "8 * 3 / 4, or 8");
            }
            rank.check(sync.totals().exchanges == 4, "exchanges");
        });
}

TEST_CASE("ranks with different numbers of steps: who has joined follows, and the divisor is what was asked for (SYN-6)") {
    suites::watchdog const guard{60};
    for (auto divisor : {chorus::join_divisor::active, chorus::join_divisor::all})
        for (rank_id p : {1u, 2u, 4u})
            suites::hold("join", simulated, p, [&](auto& rank) {
                group world{rank.net()};
                std::vector<double> v(2);
                synchroniser sync{world, std::vector{std::span{v}}, chorus::every_step{}, chorus::synchroniser_options{.joins = true, .divisor = divisor}};
                for (step_id t = 0; t <= rank.me(); ++t) {
                    v.assign(2, 12.0 * (rank.me() + 1));
                    sync.step();
                    double total = 0;
                    for (rank_id r = static_cast<rank_id>(t); r < p; ++r) total += 12.0 * (r + 1);
                    double const by = divisor == chorus::join_divisor::all ? p : p - static_cast<double>(t);
                    rank.check(std::abs(v[0] - total / by) < 1e-12, "step " + std::to_string(t));
                }
                rank.check(sync.join() == p - 1 - rank.me(), "steps of others");
                double const last = 12.0 * p / (divisor == chorus::join_divisor::all ? p : 1);
                rank.check(std::abs(v[0] - last) < 1e-12, "the last average");
            });
}

TEST_CASE("ranks with different numbers of steps that may not join: an error for who goes on, no hang (SYN-6)") {
    suites::watchdog const guard{20};
    suites::hold("no join", simulated, 2, [](auto& rank) {
        auto const world = group{rank.net()}.within(std::chrono::milliseconds{200});
        std::vector<double> v(2);
        synchroniser sync{world, std::vector{std::span{v}}, chorus::every_step{}};
        for (int t = 0; t < 3; ++t) sync.step();
        if (rank.me() == 0) return;
        auto const wrong = suites::error_of([&] { sync.step(); });
        rank.check(wrong && (wrong->code() == chorus::errc::timed_out || wrong->code() == chorus::errc::peer_lost), wrong ? wrong->what() : "no error");
        rank.check(suites::error_of([&] { sync.step(); }).has_value(), "it goes on after an error");
        suites::expect_error(rank, wrong ? wrong->code() : chorus::errc::corrupt, {}, [&] { static_cast<void>(sync.save()); });
    }, suites::ending::may_abort);
}

TEST_CASE("weights of a membership are those of the mean") {
    for (rank_id p : {1u, 3u, 4u})
        suites::hold("weights", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            std::vector<double> v(3, rank.me() + 1.0);
            synchroniser sync{world, std::vector{std::span{v}}, by_rank{}};
            sync.step();
            double wanted = 0;
            for (rank_id r = 0; r < p; ++r) wanted += (r + 1.0) * 2 * (r + 1) / (p * (p + 1.0));
            rank.check(std::abs(v[0] - wanted) < 1e-12, "the weighted mean");
        });
}

TEST_CASE("carried by a compressor: all ranks hold the same bits; a lossless one gives the mean") {
    suites::watchdog const guard{60};
    for (rank_id p : {2u, 3u, 4u})
        suites::hold("compressed", simulated, p, [&](auto& rank) {
            group world{rank.net()};
            std::vector<float> v(64), whole(64);
            for (std::size_t i = 0; i < v.size(); ++i) v[i] = whole[i] = static_cast<float>(p * (rank.me() + i));
            synchroniser exact{world, std::vector{std::span{whole}}, chorus::every_step{}, chorus::top_k{1.0}};
            exact.step();
            for (std::size_t i = 0; i < v.size(); ++i) rank.check(whole[i] == static_cast<float>(p * i) + static_cast<float>(p * (p - 1)) / 2, "element " + std::to_string(i));
            synchroniser lossy{world, std::vector{std::span{v}}, chorus::every_step{}, chorus::error_feedback{chorus::top_k{0.1}}};
            for (int t = 0; t < 3; ++t) lossy.step();
            std::vector<float> least = v, most = v;
            chorus::all_reduce(world, least, chorus::minimum{});
            chorus::all_reduce(world, most, chorus::maximum{});
            rank.check(least == most, "not the same bits");
        });
}

TEST_CASE("what cannot be asked for is refused, with the rank and the step") {
    suites::hold("refused", simulated, 1, [](auto& rank) {
        group world{rank.net()};
        std::vector<double> v(3);
        synchroniser sync{world, std::vector{std::span{v}}, chorus::every_step{}};
        suites::expect_error(rank, chorus::errc::invalid_argument, {"rank 0, step 0", "tensor 1 is not below their number 1"}, [&] { sync.ready(1); });
        sync.ready(0);
        suites::expect_error(rank, chorus::errc::invalid_argument, {"tensor 0 is ready a second time"}, [&] { sync.ready(0); });
        suites::expect_error(rank, chorus::errc::invalid_argument, {"drained while it is open"}, [&] { sync.drain(); });
        sync.finish();
        suites::expect_error(rank, chorus::errc::invalid_argument, {"the option joins must announce"}, [&] { sync.join(); });
    });
}
