// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/balance/noise_scale.hpp"

#include "chorus/balance/weighted_mean.hpp"
#include "chorus/base/random.hpp"
#include "suites/expected_error.hpp"
#include "suites/transport_suite.hpp"
#include "suites/turn_taking.hpp"
#include "suites/watchdog.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::gradient_noise;
using chorus::gradient_scatter;

namespace {

constexpr std::size_t count = 6;
constexpr double tau = 6.283185307179586;

/// Gradients of ranks with these batches: element i of one sample's is Gaussian around i / 4 with the standard deviation i + 1.
struct step {
    std::vector<std::vector<double>> gradients;
    std::vector<double> mean = std::vector<double>(count);
    double samples = 0;

    step(std::vector<double> const& batches, std::uint64_t seed) {
        for (std::size_t r = 0; r < batches.size(); ++r) {
            chorus::counter_random const random{seed, r};
            std::vector<double>& g = gradients.emplace_back();
            for (std::size_t i = 0; i < count; ++i) {
                double const normal = std::sqrt(-2 * std::log(1 - random.unit(2 * i))) * std::cos(tau * random.unit(2 * i + 1));
                g.push_back(static_cast<double>(i) / 4 + static_cast<double>(i + 1) * normal / std::sqrt(batches[r]));
                mean[i] += batches[r] * g.back();
            }
            samples += batches[r];
        }
        for (double& x : mean) x /= samples;
    }

    gradient_noise measured(std::vector<double> const& batches) const {
        gradient_scatter all{};
        for (std::size_t r = 0; r < batches.size(); ++r) {
            auto const one = chorus::scatter_of(std::span{gradients[r]}, batches[r]);
            for (std::size_t k = 0; k < 3; ++k) all[k] += one[k];
        }
        return chorus::measured_noise(all, chorus::squared_norm(std::span{mean}));
    }
};

double true_noise() {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>((i + 1) * (i + 1));
    return sum;
}
double true_signal() {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += static_cast<double>(i * i) / 16;
    return sum;
}

struct moments {
    double sum = 0, squares = 0, many = 0;
    void add(double x) { sum += x, squares += x * x, many += 1; }
    double mean() const { return sum / many; }
    double variance() const { return squares / many - mean() * mean(); }
    double error() const { return std::sqrt(variance() / many); }
};

/// Cannikin's estimates of rank r alone.
double alone(step const& s, std::vector<double> const& batches, std::size_t r) {
    double const b = batches[r], rest = s.samples - b;
    return b * s.samples / rest * (chorus::squared_norm(std::span{s.gradients[r]}) - chorus::squared_norm(std::span{s.mean}));
}

std::vector<std::vector<double>> const deals{{8, 8}, {4, 4, 4, 4}, {1, 31}, {2, 3, 5, 7, 11}, {1, 1, 1, 1, 1, 1, 1, 57}};

}  // namespace

TEST_CASE("unbiased: over many Gaussian gradients noise and signal come to the true ones within four standard errors, of equal and unequal batches") {
    for (auto const& batches : deals) {
        moments noise, signal;
        for (std::uint64_t seed = 0; seed < 6000; ++seed) {
            auto const made = step{batches, seed}.measured(batches);
            noise.add(made.noise);
            signal.add(made.signal);
        }
        CHECK(std::abs(noise.mean() - true_noise()) < 4 * noise.error());
        CHECK(std::abs(signal.mean() - true_signal()) < 4 * signal.error());
        CHECK(noise.error() < 0.05 * true_noise());  // or else being within it would say little
    }
}

TEST_CASE("of equal batches it is McCandlish's estimate, of unequal ones a mean of Cannikin's, of smaller variance than the plain one") {
    for (auto const& batches : deals) {
        moments weighted, plain;
        double const p = static_cast<double>(batches.size());
        for (std::uint64_t seed = 0; seed < 2000; ++seed) {
            step const s{batches, seed};
            double mean_of_ranks = 0, plain_mean = 0, norms = 0;
            for (std::size_t r = 0; r < batches.size(); ++r) {
                mean_of_ranks += (s.samples - batches[r]) / (s.samples * (p - 1)) * alone(s, batches, r);
                plain_mean += alone(s, batches, r) / p;
                norms += chorus::squared_norm(std::span{s.gradients[r]}) / p;
            }
            auto const made = s.measured(batches);
            CHECK(made.noise == doctest::Approx(mean_of_ranks).epsilon(1e-9));
            if (batches[0] == batches[1] && batches.size() != 8) {
                double const b = batches[0], big = s.samples, whole = chorus::squared_norm(std::span{s.mean});
                CHECK(made.noise == doctest::Approx((norms - whole) / (1 / b - 1 / big)).epsilon(1e-9));
                CHECK(made.signal == doctest::Approx((big * whole - b * norms) / (big - b)).epsilon(1e-9));
            }
            weighted.add(made.noise);
            plain.add(plain_mean);
        }
        CHECK(weighted.variance() <= plain.variance() * (1 + 1e-9));
    }
}

TEST_CASE("over a network: three doubles more to add up, the same bits on all ranks, a rank without samples changing nothing") {
    suites::watchdog const guard{60};
    for (chorus::rank_id p = 3; p <= 17; p += 2)
        suites::hold("noise", [](chorus::rank_id size) { return suites::simulated_fleet{size}; }, p, [&](auto& rank) {
            chorus::group world{rank.net()};
            std::vector<double> batches;
            for (chorus::rank_id r = 0; r + 1 < p; ++r) batches.push_back(r % 3 + 1);
            step const s{batches, p};
            bool const has_none = rank.me() + 1 == p;
            std::vector<double> gradient = has_none ? std::vector<double>(count, std::nan("")) : s.gradients[rank.me()];
            double const mine = has_none ? 0 : batches[rank.me()];
            auto scatter = chorus::scatter_of(std::span{gradient}, mine);
            chorus::all_reduce(world, scatter, chorus::sum{});
            chorus::weighted_mean_all_reduce(world, gradient, mine);
            auto const made = chorus::measured_noise(scatter, chorus::squared_norm(std::span{gradient})), alone = s.measured(batches);
            rank.check(std::abs(made.noise - alone.noise) < 1e-9 * alone.noise && std::abs(made.signal - alone.signal) < 1e-9 * alone.noise, "not that of one process");
            std::vector<double> least{made.noise, made.signal}, most = least;
            chorus::all_reduce(world, least, chorus::minimum{});
            chorus::all_reduce(world, most, chorus::maximum{});
            rank.check(least == most, "not the same bits");
        });
}

TEST_CASE("over time: the mean of the first steps, then fading; the quotient of means; a batch of the scale is worth half") {
    chorus::noise_scale one{0.1}, many{0.1};
    CHECK(one.average() == gradient_noise{});
    one.update({10, 2});
    CHECK(one.average().noise == doctest::Approx(10));
    CHECK(one.average().scale() == doctest::Approx(5));
    for (int i = 0; i < 500; ++i) many.update({i % 2 == 0 ? 9.0 : 11.0, i % 2 == 0 ? -1.0 : 5.0});
    CHECK(many.average().noise == doctest::Approx(10).epsilon(0.02));
    CHECK(many.average().scale() == doctest::Approx(5).epsilon(0.15));
    CHECK(gradient_noise{10, 2}.efficiency(5, 0) == 0.5);
    CHECK(gradient_noise{10, 2}.efficiency(32, 32) == 1);
    CHECK(std::isinf(gradient_noise{10, -1}.scale()));
    CHECK(gradient_noise{10, 0}.efficiency(1000) == 1);
}

TEST_CASE("what cannot be measured is refused") {
    CHECK(suites::unlike(chorus::errc::invalid_argument, {"1 ranks had samples"}, [] { chorus::measured_noise({3, 2, 1}, 1); }) == "");
    for (double smoothing : {0.0, 1.1, std::nan("")}) CHECK(suites::unlike(chorus::errc::invalid_argument, {"a smoothing of"}, [&] { chorus::noise_scale{smoothing}; }) == "");
}
