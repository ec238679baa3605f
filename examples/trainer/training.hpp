// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "exchange.hpp"
#include "images.hpp"
#include "model.hpp"
#include "strategy.hpp"

#include <chorus/chorus.hpp>
#include <chorus/overlap/progress_thread.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace trainer {

/// What happened up to the end of an epoch, over all ranks together.
struct progress_report {
    std::size_t epoch = 0;
    std::size_t steps = 0;
    double loss = 0;           ///< mean over the images of this epoch, before their steps
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

/// Training by many: every rank makes one of these and holds the whole model. Each differentiates its share of a batch, and the strategy's exchange keeps the
/// replicas together.
class training {
 public:
    training(chorus::any_transport& endpoint, train_and_test const& data, settings const& chosen, strategy const& how)
        : net_{endpoint, 0}, world_{net_}, data_{data}, chosen_{chosen},
          replica_{layers_of(chosen, data.train.pixels.rows()), chosen.seed + world_.rank()} {  // replicas start apart ...
        chorus::broadcast(world_, replica_.weights(), 0);                                      // ... and take over rank 0's weights
        together_ = make_exchange(world_, replica_, how);
        if (how.delay > 0 && chosen.transport != "mpi") helper_.emplace();  // MPI is initialised for one thread
    }

    /// `report(progress_report)` is called on rank 0 after every epoch.
    template <class Report>
    outcome run(Report&& report) {
        for (std::size_t epoch = 0; epoch < chosen_.epochs; ++epoch) {
            double totals[] = {0, 0, 0, 0, 0};  // loss, images, bytes, seconds, of them exchanging
            all_.time([&] { learn(epoch, totals[0], totals[1]); });
            if (epoch + 1 == chosen_.epochs) exchanging_.time([&] { together_->at_end(); });
            totals[2] = static_cast<double>(net_.sent_bytes()), totals[3] = all_.seconds(), totals[4] = exchanging_.seconds();
            chorus::all_reduce(world_, totals, chorus::sum{});
            double const accuracy = judged(world_, replica_, data_.test, chosen_);
            if (world_.rank() > 0) continue;
            report(progress_report{epoch + 1, steps_, totals[0] / totals[1], accuracy, totals[3] / world_.size(), totals[2], totals[4] / totals[3]});
        }
        return {judged(world_, replica_, data_.test, chosen_), replicas_agree(world_, replica_), replica_.fingerprint()};
    }

 private:
    void learn(std::size_t epoch, double& loss, double& seen) {
        auto const order = shuffled(data_.train.count(), chosen_.seed, epoch);
        double const rate = chosen_.rate * (1 - static_cast<double>(epoch) / static_cast<double>(chosen_.epochs));
        for (std::size_t first = 0; first < order.size(); first += chosen_.batch, ++steps_) {
            auto const batch = std::span{order}.subspan(first, (std::min)(chosen_.batch, order.size() - first));
            if (!together_->pulls(steps_, rate)) {
                auto const mine = share(batch, world_.rank(), world_.size());
                loss += differentiate(mine, static_cast<double>(batch.size()) / world_.size());
                seen += static_cast<double>(mine.size());
                exchanging_.time([&] { together_->after_backward(); });
                replica_.descend(together_->local_rate(rate), chosen_.momentum);
            }
            exchanging_.time([&] { together_->after_update(); });
        }
    }

    /// Meanwhile what was sent in earlier steps travels on.
    double differentiate(std::span<std::size_t const> mine, double samples) {
        if (!helper_) return replica_.differentiate(data_.train.pick(mine), samples);
        auto const driven = helper_->drive(*together_);
        return replica_.differentiate(data_.train.pick(mine), samples);
    }

    network net_;
    ranks_of world_;
    train_and_test const& data_;
    settings const& chosen_;
    model replica_;
    std::unique_ptr<exchange> together_;
    std::optional<chorus::progress_thread> helper_;
    stopwatch all_, exchanging_;
    std::size_t steps_ = 0;
};

}  // namespace trainer
