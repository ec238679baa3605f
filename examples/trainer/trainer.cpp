// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

// Trains a small network on pictures, its batches shared out over several ranks, and checks that the ranks end with the same weights and with what one
// process alone would have learned. Read in this order: images.hpp (the data), model.hpp (the network, all gradients in one vector), strategy.hpp (what can be
// exchanged, by name), exchange.hpp (the exchange: here chorus is used), training.hpp (the loop).

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

void print_heading(settings const& chosen, strategy const& how, train_and_test const& data, chorus::rank_id ranks) {
    fmt::print("{} pictures to learn from, {} to be judged by; {} weights in one vector\n", data.train.count(), data.test.count(),
               model{layers_of(chosen, data.train.pixels.rows()), 0}.weights().size());
    fmt::print("{} ranks over {}, global batch {}, {}, seed {}\n\n", ranks, chosen.transport, chosen.batch, describe(how), chosen.seed);
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
void learn(chorus::any_transport& net, settings const& chosen, strategy const& how, train_and_test const& data) {
    std::optional<outcome> alone;
    bool const speaks = net.rank() == 0;
    if (speaks) print_heading(chosen, how, data, net.size());
    if (speaks && chosen.alone) {
        chorus::self_transport self;
        chorus::any_transport lone{self};
        alone = training{lone, data, chosen, how}.run([](progress_report const&) {});
    }
    diary tell{speaks ? chosen.csv : ""};
    outcome const together = training{net, data, chosen, how}.run(tell);
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
    app.footer("Try, each with --transport thread --ranks 8:\n"
               "  (nothing more)                                        gradients averaged at every step: bulk-synchronous\n"
               "  --delay 2 --momentum 0.5 --rate 0.2                   by the gradients of two steps ago, which travel meanwhile: Pipe-SGD\n"
               "  --carry 'error_feedback(top_k(ratio=0.01))' --momentum 0 --rate 0.7    1 % of the gradient's elements a step\n"
               "  --sync 'local_steps(period=8)'                        weights averaged at every 8th step: local SGD\n"
               "  --sync 'local_steps(period=8)' --delay 4              ... and four steps late, keeping what is learned meanwhile: OLDSGD\n"
               "  --sync 'local_steps(period=8)' --merge 'outer_step(outer_nesterov(momentum=0.5))'    ... taken as a gradient by a second optimiser: DiLoCo\n"
               "  (the same) --pull 0.1                                 ... with pulls to the common model in between: PALSGD\n"
               "  --sync 'divide_and_shuffle(groups=2)'                 groups drawn anew at each step: DS-Sync; also grid_groups, rack_delegates(width=4)\n"
               "  --sync every_step --merge 'elastic(rate=0.5)'         ranks explore around a centre: EASGD\n"
               "  --graph one_peer_exponential                          weights mixed with one neighbour's at each step: gossip; also ring_graph, torus, ...\n"
               "Ranks:\n"
               "  trainer --ranks 2 --algorithm ring                    two processes, another algorithm: the same accuracy\n"
               "  mpirun -n 4 trainer_openmpi --transport mpi           ranks that a launcher starts; ucx: torchrun's variables\n"
               "Data and pictures:\n"
               "  trainer --data fashion --hidden 256 --epochs 5 --least-accuracy 80\n"
               "  trainer --csv a.csv; examples/trainer/plot.py a.csv -o plot.svg    loss and accuracy against time, steps and bytes");
    app.option_defaults()->always_capture_default();
    app.add_option("--ranks", chosen.ranks, "How many replicas learn together (thread and shm)")->check(CLI::Range(1, 64));
    app.add_option("--transport", chosen.transport, "What a rank is: a process (shm, shared memory), a thread, or what a launcher started")
        ->check(CLI::IsMember({"shm", "thread", "ucx", "mpi"}));
    app.add_option("--algorithm", chosen.algorithm, "How averages are made: automatic, ring, rabenseifner, ...");
    app.add_option("--sync", chosen.sync, "Who averages weights with whom, and when; without it all average gradients at every step");
    app.add_option("--merge", chosen.merge, "What becomes of weights when an average arrives: take_arrived, keep_progress (if it is late), outer_step, elastic, half_way");
    app.add_option("--delay", chosen.delay, "Steps between sending and merging, so that messages travel while the next ones are computed")->check(CLI::Range(0, 64));
    app.add_option("--pull", chosen.pull, "Probability of a pull towards the common model instead of a gradient")->check(CLI::Range(0.0, 0.9));
    app.add_option("--graph", chosen.graph, "Over which weights are mixed with the neighbours' at every step, by gossip");
    app.add_option("--weights", chosen.weights, "How much neighbours count: metropolis if not given, max_degree, uniform");
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
                 "the others what the strategy says. Fails unless the weights end bit-equal on all ranks, the test accuracy is at least 96 %, and, where all\n"
                 "steps are those of one process, one process alone gets within 0.5 points of it."};
    add_options(app, chosen);
    CLI11_PARSE(app, argc, argv);
    if (chosen.quick) chosen.epochs = 12;
    bool const is_digits = chosen.data == "digits";
    if (chosen.from.empty()) chosen.from = is_digits ? TRAINER_DATA : "/usr/share/datasets/fashion-mnist";

    try {
        strategy const how = make_strategy(chosen);
        chosen.alone = chosen.alone && is_digits && how.is_bulk_synchronous();  // others, and larger models, come to other minima than one process
        train_and_test const data = is_digits ? load_digits(chosen.from) : load_fashion(chosen.from, chosen.images);
        rank_program const program = [&](chorus::any_transport& net) { learn(net, chosen, how, data); };
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
