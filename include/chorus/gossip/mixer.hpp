// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/element.hpp"
#include "chorus/gossip/detail/arrivals.hpp"
#include "chorus/gossip/detail/method_steps.hpp"
#include "chorus/gossip/stepper.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace chorus::gossip {

namespace detail {

template <class Element>
class plain_mixing {
 public:
    static constexpr std::string_view name = "mixer";
    static constexpr weight_law law = weight_law::rows_sum_to_one;
    static constexpr bool can_skip = true;

    plain_mixing(std::span<Element> values, bool keeps_progress) : values_{values}, keeps_progress_{keeps_progress} {}

    std::span<Element const> values() const noexcept { return values_; }
    std::size_t payload_bytes() const noexcept { return values_.size_bytes(); }
    std::uint64_t digest() const noexcept { return digest_of<Element>(); }

    std::size_t pack(std::span<std::byte> payload) noexcept {
        if (!values_.empty()) std::memcpy(payload.data(), values_.data(), payload.size());
        snapshot_ = {elements_of<Element>(payload), values_.size()};
        return payload.size();
    }

    void combine(arrivals const& came) noexcept {
        mix_each(snapshot_, came, 0, [&](std::size_t i, double mixed) {
            double const progress = keeps_progress_ ? wide(values_[i]) - wide(snapshot_[i]) : 0.0;
            values_[i] = narrow<Element>(mixed + progress);
        });
    }

 private:
    std::span<Element> values_;
    bool keeps_progress_;
    std::span<Element const> snapshot_;  // as it was sent
};

}  // namespace detail

/// Decentralised averaging, the mixing step of D-PSGD: x becomes W x, a little nearer to the mean at every step, at the price of a few neighbours' messages.
///
///     chorus::gossip::mixer mix{world, weights, chorus::topo::one_peer_exponential{}};
///     for (chorus::step_id t = 0; t < steps; ++t) {
///         mix.start(t);   // sends the weights as they stand
///         …               // the gradient at the same weights, applied to them at once or afterwards
///         mix.wait();     // x = W snapshot + (x - snapshot)
///     }
///
/// Updated between `start` and `wait`, this is combine-while-adapt, which hides the messages behind the gradient; updated before `start`, adapt-then-combine.
///
/// messages per step: one of 24 bytes + the values to each neighbour | memory: a snapshot, and the values once more for each neighbour heard from | sums in
/// double, ascending by rank: the same bits in every run unless neighbours are skipped | the mean is kept where W is doubly stochastic (`topo::expect_stochastic`),
/// nobody being skipped | values of float, double, half, bfloat16; equal counts on all ranks
/// X. Lian et al., "Can decentralized algorithms outperform centralized algorithms?" (NeurIPS 2017)
class mixer : public stepper {
 public:
    template <transport Transport, buffer Values, topo::graph Graph, topo::weighting Weighting = topo::metropolis>
        requires chorus::detail::real<element_of<Values>>
    mixer(group<Transport> const& members, Values&& values, Graph const& graph, Weighting const& weighting = {}, mixing_options const& options = {})
        : stepper{detail::steps_of(members, detail::plain_mixing<element_of<Values>>{chorus::detail::target_span(values), options.keeps_progress}, graph, weighting, options)} {}
};

}  // namespace chorus::gossip
