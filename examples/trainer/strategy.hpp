// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "model.hpp"

#include <chorus/chorus.hpp>
#include <chorus/compress/compressors.hpp>
#include <chorus/transport/recording.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace trainer {

using network = chorus::recording_transport<chorus::any_transport>;  // any transport, with its bytes counted
using ranks_of = chorus::group<network>;

struct settings {
    chorus::rank_id ranks = 4;
    std::string transport = "shm";
    std::string algorithm = "automatic";
    std::string carry;       ///< what messages are compressed by; empty: nothing
    std::string data = "digits";
    std::string from;        ///< file or folder of the data; empty: where it is expected
    std::size_t images = 60000;  ///< of fashion to learn from, at most
    std::string model = "mlp";
    std::vector<Eigen::Index> hidden{128, 64};
    std::size_t epochs = 20;
    std::size_t batch = 64;  ///< of all ranks together, so that the mathematics does not depend on their number
    double rate = 0.1;       ///< of learning, at first; falls to 0 in the last epoch
    double momentum = 0.9;   ///< of the descent
    std::uint64_t seed = 1;
    double least_accuracy = 96;  ///< percent
    bool alone = true;       ///< one process learns as well, to compare with
    std::string csv;         ///< file for a line per epoch; empty: none
    bool quick = false;
};

/// What ranks exchange around a step.
class exchange {
 public:
    virtual ~exchange() = default;
    virtual bool sums_gradients() const { return false; }  ///< `after_backward` leaves the sum of all ranks' gradients
    virtual void after_backward() {}
    virtual void after_update() {}
    virtual void at_end() {}  ///< all ranks have the same weights afterwards
};

/// A plan that adds the vectors of all ranks up in place.
inline chorus::plan plan_sum(ranks_of const& world, std::span<float> vector, settings const& chosen) {
    chorus::plan_options options;
    if (!chosen.carry.empty()) options.carried_by = chorus::compression{chorus::compressor_named(chosen.carry)};
    if (chosen.algorithm == "automatic") return chorus::plan_all_reduce(world, vector, chorus::sum{}, chorus::automatic{}, options);
    return chorus::plan_all_reduce(world, vector, chorus::sum{}, chorus::algorithm_named(chosen.algorithm), options);
}

/// Bulk-synchronous: one all-reduce of the gradients a step; all take the same step.
class gradient_sum final : public exchange {
 public:
    gradient_sum(ranks_of const& world, std::span<float> gradient, settings const& chosen) : sum_{plan_sum(world, gradient, chosen)} {}
    bool sums_gradients() const override { return true; }
    void after_backward() override { sum_.run(); }

 private:
    chorus::plan sum_;
};

/// Throws for a name that is not known, before any rank starts.
inline void expect_known(settings const& chosen) {
    if (chosen.algorithm != "automatic") chorus::algorithm_named(chosen.algorithm);
    if (!chosen.carry.empty()) chorus::compressor_named(chosen.carry);
}

inline std::string describe(settings const& chosen) {
    return "all-reduce of gradients: " + chosen.algorithm + (chosen.carry.empty() ? "" : " carried by " + chosen.carry);
}

inline std::unique_ptr<exchange> make_exchange(ranks_of const& world, model& replica, settings const& chosen) {
    return std::make_unique<gradient_sum>(world, replica.gradient(), chosen);
}

}  // namespace trainer
