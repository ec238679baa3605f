// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chorus/chorus.hpp>
#include <chorus/compress/compressors.hpp>
#include <chorus/sync/local_pull.hpp>
#include <chorus/sync/merges.hpp>
#include <chorus/topo/any_weighting.hpp>
#include <chorus/topo/graphs.hpp>

#include <Eigen/Core>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace trainer {

/// What may be said on the command line.
struct settings {
    chorus::rank_id ranks = 4;
    std::string transport = "shm";
    std::string algorithm = "automatic";
    std::string carry;           ///< what messages are compressed by; empty: nothing
    std::string sync;            ///< who averages weights with whom; empty: all average gradients
    std::string merge;           ///< what becomes of weights when an average arrives
    std::string graph;           ///< over which weights are mixed by gossip
    std::string weights;         ///< of the neighbours in that graph
    chorus::step_id delay = 0;   ///< steps between sending and merging
    double pull = 0;             ///< probability of a pull instead of a gradient
    std::string data = "digits";
    std::string from;            ///< file or folder of the data; empty: where it is expected
    std::size_t images = 60000;  ///< of fashion to learn from, at most
    std::string model = "mlp";
    std::vector<Eigen::Index> hidden{128, 64};
    std::size_t epochs = 20;
    std::size_t batch = 64;      ///< of all ranks together, so that the mathematics does not depend on their number
    double rate = 0.1;           ///< of learning, at first; falls to 0 in the last epoch
    double momentum = 0.9;       ///< of the descent
    std::uint64_t seed = 1;
    double least_accuracy = 96;  ///< percent
    bool alone = true;           ///< one process learns as well, to compare with
    std::string csv;             ///< file for a line per epoch; empty: none
    bool quick = false;
};

/// Keeping replicas in step is a choice of a few values, and each value has a name:
///
/// gradients   all ranks average them and take the same step; `delay` steps late: Pipe-SGD. What is chosen unless one of the next two is
/// who         some ranks average their weights at some steps, in between each goes its own way: local SGD, DS-Sync, DiLoCo, PALSGD, EASGD, OLDSGD
/// graph       each rank mixes its weights with its neighbours': gossip
struct strategy {
    std::optional<chorus::any_policy> who;
    chorus::any_merge merge;                         ///< what becomes of a rank's weights when an average arrives
    std::optional<chorus::topo::any_graph> graph;
    chorus::topo::any_weighting weights;             ///< how much each neighbour counts
    std::optional<chorus::any_compressor> carry;     ///< what messages are compressed by
    std::optional<chorus::any_algorithm> algorithm;  ///< of all-reduces; none: by what is expected to take least time
    chorus::step_id delay = 0;                       ///< steps between sending and merging
    std::optional<chorus::local_pull> pull;          ///< now and then a pull towards the common model instead of a gradient

    bool is_bulk_synchronous() const { return !who && !graph && delay == 0; }
};

inline void refuse_if(bool is_given, std::string const& why) {
    if (is_given) throw std::invalid_argument{why};
}

inline void expect_sound_gossip(settings const& given) {
    refuse_if(!given.sync.empty(), "--graph and --sync both say whom a rank averages its weights with: give one of them");
    refuse_if(!given.merge.empty(), "--graph mixes by --weights; --merge belongs to --sync");
    refuse_if(given.pull > 0, "--pull moves towards a model that all have in common, which --graph has not; it belongs to --merge outer_step");
    refuse_if(!given.carry.empty(), "--graph sends weights as they are; --carry belongs to gradients and to --sync");
    refuse_if(given.algorithm != "automatic", "--graph has no all-reduce for --algorithm to choose");
    refuse_if(given.delay > 1, "--graph can be one step late, --delay 1, not " + std::to_string(given.delay));
}

inline void expect_sound_averages(settings const& given, strategy const& made) {
    made.merge.visit([&]<class Merge>(Merge const& merge) {
        refuse_if(std::is_same_v<Merge, chorus::stale_gradient>, "--merge stale_gradient is for gradients: leave --sync and --merge out, --delay is enough");
        refuse_if(chorus::taking_merge<Merge> && made.delay > 0, "--merge take_arrived, late, would throw away what was learned meanwhile; keep_progress does not");
        refuse_if(made.pull && !chorus::anchored_merge<Merge>, "--pull moves towards the model that was common last, which only --merge outer_step and elastic keep");
        bool sends_change = false;
        if constexpr (requires { merge.sends_change; }) sends_change = merge.sends_change;
        bool const loses = made.carry && made.carry->promise(4096).contraction < 0.9;  // a squared error above a tenth
        refuse_if(loses && !sends_change, "--carry " + given.carry + " would lose too much of the weights; --merge 'outer_step(outer_sgd, sends_change=true)' sends what they change by");
    });
}

/// Out of texts, before any rank starts. Throws std::exception for names that are not known, and for what does not go together.
inline strategy make_strategy(settings const& given) {
    strategy made;
    made.delay = given.delay;
    if (given.algorithm != "automatic") made.algorithm = chorus::algorithm_named(given.algorithm);
    if (!given.carry.empty()) made.carry = chorus::compressor_named(given.carry);
    if (given.pull > 0) made.pull = chorus::local_pull{.probability = given.pull, .seed = given.seed};
    if (!given.graph.empty()) {
        expect_sound_gossip(given);
        made.graph = chorus::topo::graph_named(given.graph);
        made.weights = chorus::topo::weighting_named(given.weights.empty() ? "metropolis" : given.weights);
        return made;
    }
    refuse_if(!given.weights.empty(), "--weights belongs to --graph");
    refuse_if(given.sync.empty() && !given.merge.empty(), "--merge is for weights; say who averages them as well, as in --sync every_step");
    refuse_if(given.sync.empty() && given.pull > 0, "--pull is for weights that are averaged now and then: --sync 'local_steps(period=8)' --merge outer_step");
    if (given.sync.empty()) return made;
    made.who = chorus::policy_named(given.sync);
    made.merge = chorus::merge_named(!given.merge.empty() ? given.merge : given.delay > 0 ? "keep_progress" : "take_arrived");
    expect_sound_averages(given, made);
    return made;
}

inline std::string describe(strategy const& chosen) {
    std::string text = chosen.graph ? "weights mixed over " + chosen.graph->describe() + " by " + std::string{chosen.weights.kind()}
                       : chosen.who ? "weights averaged, " + chosen.who->describe() + ", " + chosen.merge.describe()
                                    : "gradients averaged";
    if (!chosen.graph) text += ", " + (chosen.algorithm ? chosen.algorithm->describe() : "automatic");
    if (chosen.carry) text += ", carried by " + chosen.carry->describe();
    if (chosen.delay > 0) text += ", " + std::to_string(chosen.delay) + " late";
    if (chosen.pull) text += ", pulled in " + std::to_string(100 * chosen.pull->probability).substr(0, 4) + " % of the steps";
    return text;
}

}  // namespace trainer
