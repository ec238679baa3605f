// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "model.hpp"
#include "strategy.hpp"

#include <chorus/chorus.hpp>
#include <chorus/gossip/mixer.hpp>
#include <chorus/sync/synchroniser.hpp>
#include <chorus/topo/mixing.hpp>

#include <memory>
#include <span>

namespace trainer {

using network = chorus::recording_transport<chorus::any_transport>;  // any transport, with its bytes counted
using ranks_of = chorus::group<network>;

/// What ranks exchange around a step. A gradient is each rank's sum over its images, divided by the images that a rank has on average; so the mean over the ranks
/// is the mean over the batch.
class exchange {
 public:
    virtual ~exchange() = default;
    virtual void after_backward() {}
    virtual void after_update() {}
    /// Instead of a gradient, if it returns true, the weights were pulled.
    virtual bool pulls(chorus::step_id, double /*rate*/) { return false; }
    /// What the others' steps are made at, in return.
    virtual double local_rate(double rate) const { return rate; }
    /// Moves what is under way, while the gradient is computed.
    virtual chorus::progress advance() noexcept { return chorus::progress::done; }
    /// All ranks have the same weights afterwards.
    virtual void at_end() {}
};

/// Every strategy but gossip is a synchroniser: who, how carried, how merged, how late. Of the gradients, or of the weights.
template <class Merge>
using averager = chorus::synchroniser<network, chorus::any_policy, Merge>;

template <class Merge>
averager<Merge> make_averager(ranks_of const& world, std::span<float> what, chorus::any_policy const& who, Merge const& merge, strategy const& chosen) {
    chorus::expect_mixing(who, world.size());
    chorus::synchroniser_options const how{.delay = chosen.delay, .algorithm = chosen.algorithm};
    if (chosen.carry) return {world, {what}, who, *chosen.carry, merge, how};
    return {world, {what}, who, chorus::uncompressed{}, merge, how};
}

/// Bulk-synchronous: all take the same step, by the mean gradient. With a delay K it is that of K steps ago, which has travelled meanwhile.
class gradient_average final : public exchange {
 public:
    gradient_average(ranks_of const& world, model& replica, strategy const& chosen)
        : sync_{make_averager(world, replica.gradient(), chorus::every_step{}, chorus::stale_gradient{}, chosen)} {}
    void after_backward() override { sync_.step(); }
    chorus::progress advance() noexcept override { return sync_.advance(); }

 private:
    averager<chorus::stale_gradient> sync_;
};

/// Each rank descends by its own gradient, and averages its weights with whom the policy says. In the end all average with all.
template <class Merge>
class weight_average final : public exchange {
 public:
    weight_average(ranks_of const& world, model& replica, strategy const& chosen, Merge const& merge)
        : world_{world}, weights_{replica.weights()}, pull_{chosen.pull}, sync_{make_averager(world, weights_, *chosen.who, merge, chosen)} {}

    void after_update() override { sync_.step(); }
    chorus::progress advance() noexcept override { return sync_.advance(); }

    bool pulls([[maybe_unused]] chorus::step_id step, [[maybe_unused]] double rate) override {
        if constexpr (chorus::anchored_merge<Merge>) {
            if (!pull_ || !pull_->is_due(step, world_.rank())) return false;
            pull_->apply(weights_, sync_.last_synced(0), rate);
            return true;
        }
        return false;
    }
    double local_rate(double rate) const override { return pull_ ? pull_->local_rate(rate) : rate; }

    void at_end() override {
        sync_.drain();
        chorus::all_reduce(world_, weights_, chorus::mean{});
    }

 private:
    ranks_of world_;
    std::span<float> weights_;
    std::optional<chorus::local_pull> pull_;
    averager<Merge> sync_;
};

/// Each rank descends by its own gradient, and mixes its weights with those of a few neighbours; with a delay of 1 they travel during the next step.
class gossip final : public exchange {
 public:
    gossip(ranks_of const& world, model& replica, strategy const& chosen)
        : world_{world}, weights_{replica.weights()}, is_late_{chosen.delay > 0}, mixer_{world, weights_, *chosen.graph, chosen.weights} {
        chorus::step_id const period = chosen.graph->period(world.size());  // 0: none
        chorus::topo::mixing_speed_of_graph(*chosen.graph, world.size(), chosen.weights, period > 0 ? period : 64);  // throws for what never agrees
    }

    void after_update() override {
        mixer_.wait();  // for the last one, if it is late
        mixer_.start(step_++);
        if (!is_late_) mixer_.wait();
    }
    chorus::progress advance() noexcept override { return mixer_.advance(); }

    void at_end() override {
        mixer_.wait();
        chorus::all_reduce(world_, weights_, chorus::mean{});
    }

 private:
    ranks_of world_;
    std::span<float> weights_;
    bool is_late_;
    chorus::gossip::mixer mixer_;
    chorus::step_id step_ = 0;
};

inline std::unique_ptr<exchange> make_exchange(ranks_of const& world, model& replica, strategy const& chosen) {
    if (chosen.graph) return std::make_unique<gossip>(world, replica, chosen);
    if (!chosen.who) return std::make_unique<gradient_average>(world, replica, chosen);
    return chosen.merge.visit([&]<class Merge>(Merge const& merge) -> std::unique_ptr<exchange> {
        return std::make_unique<weight_average<Merge>>(world, replica, chosen, merge);
    });
}

}  // namespace trainer
