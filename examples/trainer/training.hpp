// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "digits.hpp"
#include "network.hpp"

#include <chorus/chorus.hpp>
#include <chorus/compress/compressors.hpp>
#include <chorus/transport/recording.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trainer {

struct settings {
    chorus::rank_id ranks = 4;
    std::string transport = "shm";
    std::string algorithm = "automatic";
    std::string carry;       ///< what gradients are compressed by; empty: nothing
    std::size_t epochs = 20;
    std::size_t batch = 64;  ///< of all ranks together, so that the mathematics does not depend on their number
    double rate = 0.1;       ///< of learning, at first; falls to 0 in the last epoch
    std::uint64_t seed = 1;
    bool quick = false;
};

/// What happened in one epoch, over all ranks together.
struct epoch_summary {
    std::size_t epoch = 0;
    double loss = 0;                ///< mean over the images seen
    double accuracy = 0;            ///< on the test images, in [0, 1]
    double samples_per_second = 0;
    double bytes_sent = 0;
    double communicating = 0;       ///< share of the ranks' time between start and end of the all-reduces, in [0, 1]
};

struct outcome {
    double accuracy = 0;
    bool replicas_are_equal = false;
    std::uint64_t fingerprint = 0;
};

/// Adds up the time between `start` and `stop`.
class stopwatch {
 public:
    void start() { started_ = std::chrono::steady_clock::now(); }
    double stop() {
        seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
        return seconds_;
    }
    double seconds() const { return seconds_; }

 private:
    std::chrono::steady_clock::time_point started_;
    double seconds_ = 0;
};

/// This rank's near-equal share of the chosen images; some are empty if there are more ranks than images.
inline digits share(digits const& from, std::span<std::size_t const> chosen, chorus::rank_id rank,
                    chorus::rank_id size) {
    auto const cut = chorus::blocks::near_equal(chosen.size(), size);
    auto const mine = chosen.subspan(cut.begin(rank), cut.length(rank));
    return pick(from, {mine.begin(), mine.end()});
}

/// A plan that adds the vectors of all ranks up in place, by the named algorithm or by the one that chorus chooses; its messages compressed as `carry` says.
template <class Group>
chorus::plan plan_sum(Group const& world, std::span<float> vector, std::string_view algorithm, std::string_view carry = {}) {
    chorus::plan_options options;
    if (!carry.empty()) options.carried_by = chorus::compression{chorus::compressor_named(carry)};
    if (algorithm == "automatic") return chorus::plan_all_reduce(world, vector, chorus::sum{}, chorus::automatic{}, options);
    return chorus::plan_all_reduce(world, vector, chorus::sum{}, chorus::algorithm_named(algorithm), options);
}

/// True on all ranks if every bit of every weight agrees: then the least fingerprint is the greatest.
template <class Group>
bool replicas_agree(Group const& world, network const& replica) {
    std::uint64_t lowest = replica.fingerprint();
    std::uint64_t highest = lowest;
    chorus::all_reduce(world, std::span{&lowest, 1}, chorus::minimum{});
    chorus::all_reduce(world, std::span{&highest, 1}, chorus::maximum{});
    return lowest == highest;
}

/// Data-parallel training. Every rank calls this and holds the whole network; each differentiates its share of a batch,
/// the sums meet in one all-reduce, and all take the same step. `report(epoch_summary)` is called on rank 0 after every
/// epoch.
template <chorus::transport Transport, class Report>
outcome train(Transport& endpoint, train_and_test const& data, settings const& chosen, Report const& report) {
    chorus::recording_transport net{endpoint, 0};  // the same transport, with its bytes counted
    chorus::group world{net};

    network replica{chosen.seed + world.rank()};     // replicas start apart ...
    chorus::broadcast(world, replica.weights(), 0);  // ... and take over rank 0's weights

    auto average = plan_sum(world, replica.gradient(), chosen.algorithm, chosen.carry);
    outcome result;
    for (std::size_t epoch = 0; epoch < chosen.epochs; ++epoch) {
        auto const order = shuffled(data.train.count(), chosen.seed, epoch);
        float const rate = static_cast<float>(chosen.rate) * (1 - static_cast<float>(epoch) / static_cast<float>(chosen.epochs));
        auto const bytes_before = net.sent_bytes();
        stopwatch all, communication;
        double loss = 0;
        all.start();
        for (std::size_t first = 0; first < order.size(); first += chosen.batch) {
            auto const batch = std::span{order}.subspan(first, (std::min)(chosen.batch, order.size() - first));
            loss += replica.differentiate(share(data.train, batch, world.rank(), world.size()));

            communication.start();
            average.start();  // the gradients of all ranks are added up in place
            average.wait();
            communication.stop();

            replica.descend(rate, batch.size());  // the sum over the global batch, divided by its size
        }
        all.stop();
        auto const bytes = static_cast<double>(net.sent_bytes() - bytes_before);

        auto const tests = shuffled(data.test.count(), chosen.seed, epoch);
        auto const correct = replica.count_correct(share(data.test, tests, world.rank(), world.size()));
        double totals[] = {loss, static_cast<double>(correct), bytes, all.seconds(), communication.seconds()};
        chorus::all_reduce(world, totals, chorus::sum{});
        result.accuracy = totals[1] / static_cast<double>(data.test.count());
        auto const images = static_cast<double>(data.train.count());
        if (world.rank() == 0)
            report(epoch_summary{epoch + 1, totals[0] / images, result.accuracy, images * world.size() / totals[3],
                                 totals[2], totals[4] / totals[3]});
    }
    result.replicas_are_equal = replicas_agree(world, replica);
    result.fingerprint = replica.fingerprint();
    return result;
}

}  // namespace trainer
