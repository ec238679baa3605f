// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "images.hpp"
#include "model.hpp"
#include "strategy.hpp"

#include <chorus/chorus.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

namespace trainer {

/// What happened up to the end of an epoch, over all ranks together.
struct progress_report {
    std::size_t epoch = 0;
    std::size_t steps = 0;
    double loss = 0;           ///< mean over the images of this epoch
    double accuracy = 0;       ///< on the test images, each judged by one rank's model, in [0, 1]
    double seconds = 0;        ///< of training: judging is not counted
    double bytes_sent = 0;
    double communicating = 0;  ///< share of the ranks' time that exchanges took, in [0, 1]
};

struct outcome {
    double accuracy = 0;
    bool replicas_are_equal = false;
    std::uint64_t fingerprint = 0;
};

/// Adds up the time of what it runs.
class stopwatch {
 public:
    template <class Work>
    void time(Work const& work) {
        auto const began = std::chrono::steady_clock::now();
        work();
        seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    }
    double seconds() const { return seconds_; }

 private:
    double seconds_ = 0;
};

inline std::vector<layer> layers_of(settings const& chosen, Eigen::Index pixels) {
    return chosen.model == "cnn" ? model::convolutional(pixels, chosen.hidden) : model::perceptron(pixels, chosen.hidden);
}

/// True on all ranks if every bit of every weight agrees: then the least fingerprint is the greatest.
inline bool replicas_agree(ranks_of const& world, model const& replica) {
    std::uint64_t lowest = replica.fingerprint();
    std::uint64_t highest = lowest;
    chorus::all_reduce(world, std::span{&lowest, 1}, chorus::minimum{});
    chorus::all_reduce(world, std::span{&highest, 1}, chorus::maximum{});
    return lowest == highest;
}

/// The share of test images that the ranks' models get right, each rank judging its part.
inline double judged(ranks_of const& world, model& replica, images const& tests, settings const& chosen) {
    auto const order = shuffled(tests.count(), chosen.seed, 0);
    double correct = static_cast<double>(replica.count_correct(tests.pick(share(order, world.rank(), world.size()))));
    chorus::all_reduce(world, std::span{&correct, 1}, chorus::sum{});
    return correct / static_cast<double>(tests.count());
}

/// Training by many. Every rank calls this and holds the whole model; each differentiates its share of a batch, and what `make_exchange` made brings
/// the replicas together. `report(progress_report)` is called on rank 0 after every epoch.
template <class Make, class Report>
outcome train(chorus::any_transport& endpoint, train_and_test const& data, settings const& chosen, Make const& make_exchange, Report&& report) {
    network net{endpoint, 0};
    ranks_of const world{net};
    model replica{layers_of(chosen, data.train.pixels.rows()), chosen.seed + world.rank()};  // replicas start apart ...
    chorus::broadcast(world, replica.weights(), 0);                                           // ... and take over rank 0's weights

    std::unique_ptr<exchange> const together = make_exchange(world, replica, chosen);
    stopwatch all, exchanging;
    std::size_t steps = 0;
    for (std::size_t epoch = 0; epoch < chosen.epochs; ++epoch) {
        auto const order = shuffled(data.train.count(), chosen.seed, epoch);
        auto const rate = static_cast<float>(chosen.rate * (1 - static_cast<double>(epoch) / static_cast<double>(chosen.epochs)));
        double loss = 0;
        all.time([&] {
            for (std::size_t first = 0; first < order.size(); first += chosen.batch, ++steps) {
                auto const batch = std::span{std::as_const(order)}.subspan(first, (std::min)(chosen.batch, order.size() - first));
                auto const mine = share(batch, world.rank(), world.size());
                loss += replica.differentiate(data.train.pick(mine));
                exchanging.time([&] { together->after_backward(); });
                std::size_t const samples = (std::max)(together->sums_gradients() ? batch.size() : mine.size(), std::size_t{1});
                replica.descend(rate, static_cast<float>(chosen.momentum), samples);
                exchanging.time([&] { together->after_update(); });
            }
        });
        if (epoch + 1 == chosen.epochs) together->at_end();
        double totals[] = {loss, static_cast<double>(net.sent_bytes()), all.seconds(), exchanging.seconds()};
        chorus::all_reduce(world, totals, chorus::sum{});
        double const accuracy = judged(world, replica, data.test, chosen);
        if (world.rank() == 0)
            report(progress_report{epoch + 1, steps, totals[0] / static_cast<double>(data.train.count()), accuracy, totals[2] / world.size(), totals[1],
                                   totals[3] / totals[2]});
    }
    double const accuracy = judged(world, replica, data.test, chosen);
    return {accuracy, replicas_agree(world, replica), replica.fingerprint()};
}

}  // namespace trainer
