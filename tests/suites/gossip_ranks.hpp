// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/group.hpp"
#include "chorus/data/element.hpp"
#include "chorus/gossip/stepper.hpp"
#include "chorus/transport/run_all.hpp"
#include "chorus/transport/simulated.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

namespace suites {

/// p ranks of a simulated network, in one thread, each with a vector of values and a gossip method on it.
template <class Method, class Element = double>
class gossip_ranks {
 public:
    using make = std::function<Method(chorus::group<chorus::simulated_transport>&, std::vector<Element>&, chorus::rank_id)>;

    /// Values of rank r are whole numbers that differ by rank, element and seed.
    gossip_ranks(chorus::rank_id ranks, std::size_t count, make const& made, chorus::simulated_options const& how = {.delay = 20})
        : network{ranks, how} {
        for (chorus::rank_id r = 0; r < ranks; ++r) {
            groups.emplace_back(network.endpoint(r));
            auto& mine = values.emplace_back(count);
            chorus::counter_random const random{how.seed, r};
            for (std::size_t i = 0; i < count; ++i) mine[i] = static_cast<Element>(static_cast<float>(random.below(i, 2001)) - 1000.0F);
        }
        for (chorus::rank_id r = 0; r < ranks; ++r) methods.push_back(made(groups[r], values[r], r));
    }

    chorus::rank_id size() const { return static_cast<chorus::rank_id>(values.size()); }

    /// One step on all ranks that have not crashed; `between(rank)` is called after all have started.
    chorus::progress step(chorus::step_id t, std::function<void(chorus::rank_id)> const& between = {}) {
        std::vector<chorus::rank_id> all;
        for (chorus::rank_id r = 0; r < size(); ++r)
            if (!network.is_crashed(r)) all.push_back(r);
        return step_of(all, t, between);
    }

    /// One step on these ranks alone.
    chorus::progress step_of(std::vector<chorus::rank_id> const& who, chorus::step_id t, std::function<void(chorus::rank_id)> const& between = {}) {
        std::vector<std::function<chorus::progress()>> going;
        for (chorus::rank_id r : who) {
            methods[r].start(t);
            going.push_back([this, r] { return methods[r].advance(); });
        }
        if (between)
            for (chorus::rank_id r : who) between(r);
        return chorus::run_all(std::span{going}, {.seed = t + 1, .idle_rounds = 1000000});
    }

    std::vector<double> mean() const {
        std::vector<double> sum(values[0].size());
        for (auto const& mine : values)
            for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<double>(static_cast<chorus::wide_t<Element>>(mine[i])) / static_cast<double>(values.size());
        return sum;
    }

    /// The square root of all squared distances from `centre`, over all ranks: what a contraction is measured in.
    double distance(std::vector<double> const& centre) const {
        double square = 0.0;
        for (auto const& mine : values)
            for (std::size_t i = 0; i < centre.size(); ++i) {
                double const away = static_cast<double>(static_cast<chorus::wide_t<Element>>(mine[i])) - centre[i];
                square += away * away;
            }
        return std::sqrt(square);
    }

    chorus::simulated_network network;
    std::deque<chorus::group<chorus::simulated_transport>> groups;
    std::deque<std::vector<Element>> values;
    std::vector<Method> methods;
};

/// Every rank can be checked alone: the ranks are in one thread.
inline constexpr chorus::gossip::mixing_options alone{.is_checked = false};

/// The steps from `first` to before `end`, each of which must end well.
template <class Ranks> void run(Ranks& ranks, chorus::step_id first, chorus::step_id end) {
    for (chorus::step_id t = first; t < end; ++t) REQUIRE(ranks.step(t) == chorus::progress::done);
}

/// What is added to the values between start and the end is kept, or lost when told so. `made(options)` makes the same ranks each time, of floats.
template <class Make> void check_progress_kept(Make const& made) {
    for (bool keeps : {true, false}) {
        chorus::gossip::mixing_options options = alone;
        options.keeps_progress = keeps;
        auto ranks = made(options);
        auto still = made(alone);
        run(still, 0, 1);
        REQUIRE(ranks.step(0, [&](chorus::rank_id r) {
            for (float& x : ranks.values[r]) x -= 4.0F * static_cast<float>(r);
        }) == chorus::progress::done);
        for (chorus::rank_id r = 0; r < ranks.size(); ++r)
            for (std::size_t i = 0; i < ranks.values[r].size(); ++i)
                CHECK(ranks.values[r][i] == doctest::Approx(still.values[r][i] - (keeps ? 4.0 * r : 0.0)).epsilon(1e-5));
    }
}

/// The largest difference of two vectors' elements.
inline double difference(std::vector<double> const& a, std::vector<double> const& b) {
    double largest = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i) largest = std::fmax(largest, std::fabs(a[i] - b[i]));
    return largest;
}

}  // namespace suites
