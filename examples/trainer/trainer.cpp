// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Trains a small network on pictures, its batches shared out over several ranks, and checks that the ranks end with the same weights and with what one
// process alone would have learned. Read in this order: images.hpp (the data), model.hpp (the network, all gradients in one vector), strategy.hpp (what the
// ranks exchange: here chorus is used), training.hpp (the loop).

#include "carriers.hpp"
#include "images.hpp"
#include "strategy.hpp"
#include "training.hpp"

#include <chorus/chorus.hpp>
#include <chorus/transport/self.hpp>
#include <chorus/transport/shared_memory.hpp>
#include <chorus/transport/thread.hpp>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <fmt/os.h>

#include <cmath>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

using namespace trainer;

constexpr double most_difference = 0.005;  // half a percentage point

/// Shows epochs as they end, and keeps them in a file for plot.py.
class diary {
 public:
    explicit diary(std::string const& csv) {
        if (csv.empty()) return;
        file_.emplace(fmt::output_file(csv));
        file_->print("epoch,steps,seconds,loss,accuracy,bytes\n");
    }
    void operator()(progress_report const& e) {
        fmt::print("{:>5}  {:>6}  {:>7.2f} s  {:>6.4f}  {:>6.2f} %  {:>9.2f} MB  {:>10.1f} %\n", e.epoch, e.steps, e.seconds, e.loss, 100 * e.accuracy,
                   e.bytes_sent / 1e6, 100 * e.communicating);
        std::fflush(stdout);
        if (!file_) return;
        file_->print("{},{},{:.4f},{:.6f},{:.6f},{:.0f}\n", e.epoch, e.steps, e.seconds, e.loss, e.accuracy, e.bytes_sent);
        file_->flush();
    }

 private:
    std::optional<fmt::ostream> file_;
};

void print_heading(settings const& chosen, train_and_test const& data, chorus::rank_id ranks) {
    fmt::print("{} pictures to learn from, {} to be judged by; {} weights in one vector\n", data.train.count(), data.test.count(),
               model{layers_of(chosen, data.train.pixels.rows()), 0}.weights().size());
    fmt::print("{} ranks over {}, global batch {}, {}, seed {}\n\n", ranks, chosen.transport, chosen.batch, describe(chosen), chosen.seed);
    fmt::print("epoch   steps       time    loss  accuracy   bytes moved  exchanging\n");
    std::fflush(stdout);
}

/// Rank 0 says what came out. Throws if it is not good enough: that ends the run with a failure on all ranks.
void judge(outcome const& together, std::optional<outcome> const& alone, settings const& chosen, chorus::rank_id ranks) {
    fmt::print("\nweights are {} on all {} ranks (fingerprint {:016x})\n", together.replicas_are_equal ? "bit-equal" : "NOT EQUAL", ranks, together.fingerprint);
    fmt::print("test accuracy: {} ranks {:.2f} %", ranks, 100 * together.accuracy);
    double const difference = alone ? std::abs(together.accuracy - alone->accuracy) : 0;
    if (alone) fmt::print(", one process with the same global batch {:.2f} %, difference {:.2f} points", 100 * alone->accuracy, 100 * difference);
    fmt::print("\n");
    std::fflush(stdout);
    if (!together.replicas_are_equal) throw std::runtime_error{"the replicas have drifted apart"};
    if (100 * together.accuracy < chosen.least_accuracy) throw std::runtime_error{fmt::format("the test accuracy is below {:g} %", chosen.least_accuracy)};
    if (difference > most_difference) throw std::runtime_error{"the ranks learned something else than one process"};
}

/// What every rank does; rank 0 speaks.
void learn(chorus::any_transport& net, settings const& chosen, train_and_test const& data) {
    std::optional<outcome> alone;
    bool const speaks = net.rank() == 0;
    if (speaks) print_heading(chosen, data, net.size());
    if (speaks && chosen.alone) {
        chorus::self_transport self;
        chorus::any_transport lone{self};
        alone = train(lone, data, chosen, make_exchange, [](progress_report const&) {});
    }
    diary tell{speaks ? chosen.csv : ""};
    outcome const together = train(net, data, chosen, make_exchange, tell);
    if (speaks) judge(together, alone, chosen, net.size());
}

template <class Fleet>
void run(Fleet const& fleet, rank_program const& program) {
    fleet.run([&](auto& own) {
        chorus::any_transport net{own};
        program(net);
    });
}

void add_options(CLI::App& app, settings& chosen) {
    app.footer("Try:\n"
               "  trainer --ranks 2 --algorithm ring    two processes, another algorithm: the same accuracy\n"
               "  trainer --transport thread --ranks 8  ranks may be threads, and more than there are cores\n"
               "  trainer --carry 'error_feedback(top_k(ratio=0.01))'    1 % of the gradient's elements a step\n"
               "  trainer --data fashion --hidden 256 --epochs 5 --least-accuracy 80\n"
               "  mpirun -n 4 trainer_openmpi --transport mpi    ranks that a launcher starts; ucx: torchrun's variables\n"
               "  trainer --csv a.csv; examples/trainer/plot.py a.csv -o plot.svg    loss and accuracy against time, steps and bytes");
    app.option_defaults()->always_capture_default();
    app.add_option("--ranks", chosen.ranks, "How many replicas learn together (thread and shm)")->check(CLI::Range(1, 64));
    app.add_option("--transport", chosen.transport, "What a rank is: a process (shm, shared memory), a thread, or what a launcher started")
        ->check(CLI::IsMember({"shm", "thread", "ucx", "mpi"}));
    app.add_option("--algorithm", chosen.algorithm, "How gradients are added up: automatic, ring, rabenseifner, ...");
    app.add_option("--carry", chosen.carry, "What messages are compressed by, e.g. half_cast, 'block_integer(bits=4)' or\n'error_feedback(top_k(ratio=0.01))'; nothing if not given");
    app.add_option("--data", chosen.data, "What is on the pictures: digits (8 x 8) or fashion (28 x 28 clothes)")->check(CLI::IsMember({"digits", "fashion"}));
    app.add_option("--from", chosen.from, "The digits' file: lines of 64 pixels (0 to 16) and a digit; or the folder of fashion's four files");
    app.add_option("--images", chosen.images, "Of fashion to learn from, at most")->check(CLI::Range(1, 60000));
    app.add_option("--model", chosen.model, "mlp: dense layers; cnn: two convolutions before them")->check(CLI::IsMember({"mlp", "cnn"}));
    app.add_option("--hidden", chosen.hidden, "Widths of the dense layers before the last one")->delimiter(',');
    app.add_option("--epochs", chosen.epochs, "How often all training images are seen")->check(CLI::Range(1, 10000));
    app.add_option("--batch", chosen.batch, "Images per step, over all ranks together")->check(CLI::Range(1, 100000));
    app.add_option("--rate", chosen.rate, "Of learning, at first; it falls to 0")->check(CLI::PositiveNumber);
    app.add_option("--momentum", chosen.momentum, "Of the descent; best 0, at ten times the rate, behind error feedback")->check(CLI::Range(0.0, 0.999));
    app.add_option("--seed", chosen.seed, "Of the first weights and of the order of the images");
    app.add_option("--least-accuracy", chosen.least_accuracy, "Percent of test images; with less the run has failed");
    app.add_flag("!--not-alone", chosen.alone, "Do not have one process learn as well, to compare with");
    app.add_option("--csv", chosen.csv, "File for a line per epoch");
    app.add_flag("--quick", chosen.quick, "12 epochs, for tests");
}

}  // namespace

int main(int argc, char** argv) {
    settings chosen;
    CLI::App app{"Trains a small network on pictures, data-parallel over several ranks. Each rank differentiates its share of every batch and exchanges with\n"
                 "the others what the strategy says. Fails unless the weights end bit-equal on all ranks, the test accuracy is at least 96 %, and one process\n"
                 "alone gets within 0.5 points of it."};
    add_options(app, chosen);
    CLI11_PARSE(app, argc, argv);
    if (chosen.quick) chosen.epochs = 12;
    bool const is_digits = chosen.data == "digits";
    if (chosen.from.empty()) chosen.from = is_digits ? TRAINER_DATA : "/usr/share/datasets/fashion-mnist";

    try {
        expect_known(chosen);
        chosen.alone = chosen.alone && is_digits;  // the many minima of larger models differ by more than half a point
        train_and_test const data = is_digits ? load_digits(chosen.from) : load_fashion(chosen.from, chosen.images);
        rank_program const program = [&](chorus::any_transport& net) { learn(net, chosen, data); };
        if (chosen.transport == "shm") run(chorus::process_fleet{chosen.ranks}, program);
        else if (chosen.transport == "thread") run(chorus::thread_fleet{chosen.ranks}, program);
        else if (chosen.transport == "ucx") run_over_ucx(program);
        else run_over_mpi(program);
    } catch (std::exception const& failure) {
        std::fflush(stdout);
        fmt::print(stderr, "trainer: {}\n", failure.what());
        return 1;
    }
}
