// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Trains a small neural network on handwritten digits, its batches shared out over several ranks, and checks that the
// ranks end with the same weights and with what one process alone would have learned. Read in this order: digits.hpp
// (the data), network.hpp (the model, all gradients in one vector), training.hpp (the data-parallel loop, where chorus
// is used).

#include "all_reduce_times.hpp"
#include "digits.hpp"
#include "training.hpp"

#include <chorus/chorus.hpp>
#include <chorus/compress/compressors.hpp>
#include <chorus/transport/self.hpp>
#include <chorus/transport/shared_memory.hpp>
#include <chorus/transport/thread.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

using namespace trainer;

constexpr double least_accuracy = 0.96;
constexpr double most_difference = 0.005;  // half a percentage point

void print_epoch(epoch_summary const& e) {
    fmt::print("{:>5}  {:>6.4f}  {:>6.2f} %  {:>9.0f}  {:>8.2f} MB  {:>11.1f} %\n", e.epoch, e.loss, 100 * e.accuracy,
               e.samples_per_second, e.bytes_sent / 1e6, 100 * e.communicating);
    std::fflush(stdout);
}

void print_heading(settings const& chosen, train_and_test const& data) {
    fmt::print("{} digits to learn from, {} to be judged by; {} weights in one vector\n", data.train.count(),
               data.test.count(), network{0}.weights().size());
    fmt::print("{} {}, global batch {}, all-reduce: {}{}, seed {}\n\n", chosen.ranks,
               chosen.transport == "shm" ? "processes over shared memory" : "threads", chosen.batch, chosen.algorithm,
               chosen.carry.empty() ? "" : " carried by " + chosen.carry, chosen.seed);
    fmt::print("epoch    loss  accuracy  samples/s  bytes moved  communicating\n");
}

/// Rank 0 says what came out. Throws if it is not good enough: that ends the run with a failure on all ranks.
void judge(outcome const& together, outcome const& alone, chorus::rank_id ranks) {
    double const difference = std::abs(together.accuracy - alone.accuracy);
    fmt::print("\nweights are {} on all {} ranks (fingerprint {:016x})\n",
               together.replicas_are_equal ? "bit-equal" : "NOT EQUAL", ranks, together.fingerprint);
    fmt::print("test accuracy: {} ranks {:.2f} %, one process with the same global batch {:.2f} %, difference {:.2f} "
               "points\n",
               ranks, 100 * together.accuracy, 100 * alone.accuracy, 100 * difference);
    std::fflush(stdout);
    if (!together.replicas_are_equal) throw std::runtime_error{"the replicas have drifted apart"};
    if (together.accuracy < least_accuracy) throw std::runtime_error{"the test accuracy is below 96 %"};
    if (difference > most_difference) throw std::runtime_error{"the ranks learned something else than one process"};
}

template <class Fleet>
void run(Fleet const& fleet, settings const& chosen, train_and_test const& data) {
    chorus::self_transport lone;
    outcome const alone = train(lone, data, chosen, [](epoch_summary const&) {});

    fleet.run([&](auto& net) {
        outcome const together = train(net, data, chosen, print_epoch);
        if (net.rank() == 0) judge(together, alone, net.size());
        print_all_reduce_times(net, chosen.quick);
    });
}

}  // namespace

int main(int argc, char** argv) {
    settings chosen;
    std::string path = TRAINER_DATA;
    CLI::App app{"Trains a 64-128-64-10 perceptron on 8 x 8 images of handwritten digits, data-parallel over\n"
                 "several ranks. Each rank differentiates its share of every batch; one all-reduce adds the\n"
                 "gradients up; all ranks take the same step. Fails unless the weights end bit-equal on all ranks,\n"
                 "the test accuracy is at least 96 %, and one process alone gets within 0.5 points of it."};
    app.footer("Try:\n"
               "  trainer --ranks 2 --algorithm ring    two processes, another algorithm: the same accuracy\n"
               "  trainer --transport thread --ranks 8  ranks may be threads, and more than there are cores\n"
               "  trainer --carry 'error_feedback(top_k(ratio=0.01))'    1 % of the gradient's elements a step\n"
               "  trainer --batch 128 --epochs 30       larger batches communicate less and need more epochs");
    app.option_defaults()->always_capture_default();
    app.add_option("--ranks", chosen.ranks, "How many replicas learn together")->check(CLI::Range(1, 64));
    app.add_option("--transport", chosen.transport, "What a rank is: a process (shm, shared memory) or a thread")
        ->check(CLI::IsMember({"shm", "thread"}));
    app.add_option("--algorithm", chosen.algorithm, "How gradients are added up: automatic, ring, rabenseifner, ...");
    app.add_option("--carry", chosen.carry, "What gradients are compressed by, e.g. half_cast, 'block_integer(bits=4)' or\n'error_feedback(top_k(ratio=0.01))'; nothing if not given");
    app.add_option("--epochs", chosen.epochs, "How often all training images are seen")->check(CLI::Range(1, 10000));
    app.add_option("--batch", chosen.batch, "Images per step, over all ranks together")->check(CLI::Range(1, 100000));
    app.add_option("--rate", chosen.rate, "Of learning, at first; it falls to 0")->check(CLI::PositiveNumber);
    app.add_option("--seed", chosen.seed, "Of the first weights and of the order of the images");
    app.add_option("--data", path, "The images: lines of 64 pixels (0 to 16) and a digit")->check(CLI::ExistingFile);
    app.add_flag("--quick", chosen.quick, "12 epochs and few repeats, for tests");
    CLI11_PARSE(app, argc, argv);
    if (chosen.quick) chosen.epochs = 12;

    try {
        if (chosen.algorithm != "automatic") chorus::algorithm_named(chosen.algorithm);  // an unknown name is refused before any rank starts
        if (!chosen.carry.empty()) chorus::compressor_named(chosen.carry);
        train_and_test const data = split(load_digits(path));
        print_heading(chosen, data);
        if (chosen.transport == "shm") run(chorus::process_fleet{chosen.ranks}, chosen, data);
        else run(chorus::thread_fleet{chosen.ranks}, chosen, data);
    } catch (std::exception const& failure) {
        std::fflush(stdout);
        fmt::print(stderr, "trainer: {}\n", failure.what());
        return 1;
    }
}
