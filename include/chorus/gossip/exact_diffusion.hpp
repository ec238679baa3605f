// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/element.hpp"
#include "chorus/gossip/detail/arrivals.hpp"
#include "chorus/gossip/detail/correction.hpp"
#include "chorus/gossip/detail/method_steps.hpp"
#include "chorus/gossip/stepper.hpp"
#include "chorus/topo/weights.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace chorus::gossip {

namespace detail {

template <class Element>
class diffusion {
 public:
    static constexpr std::string_view name = "exact_diffusion";
    static constexpr weight_law law = weight_law::symmetric;
    static constexpr bool can_skip = false;
    static constexpr std::string_view why_none_is_skipped = "it is exact only if both ranks of an edge hear from each other at every step, so none can be skipped";

    diffusion(std::span<Element> values, bool keeps_progress) : values_{values}, correction_{values.size()}, keeps_progress_{keeps_progress} {}

    std::span<Element const> values() const noexcept { return values_; }
    std::size_t payload_bytes() const noexcept { return values_.size_bytes(); }
    std::uint64_t digest() const noexcept { return digest_of<Element>(); }
    void expect_graph(neighbourhood const& rows) const {
        expects(rows.is_static(), [&] { return "exact_diffusion over " + rows.name() + ": the graph changes with the step; one that stays is needed"; });
    }

    std::size_t pack(std::span<std::byte> payload) {
        auto* const sent = elements_of<Element>(payload);
        for (std::size_t i = 0; i < values_.size(); ++i) sent[i] = correction_.applied(i, values_[i]);
        if (keeps_progress_) before_.assign(values_.begin(), values_.end());
        sent_ = {sent, values_.size()};
        return payload.size();
    }

    void combine(arrivals const& came) noexcept {
        mix_each(sent_, came, 0, [&](std::size_t i, double mixed) {
            double const progress = keeps_progress_ ? wide(values_[i]) - wide(before_[i]) : 0.0;
            values_[i] = narrow<Element>(mixed + progress);
            correction_.grow(i, mixed, sent_[i]);
        });
    }

 private:
    std::span<Element> values_;
    correction<Element> correction_;
    bool keeps_progress_;
    std::vector<Element> before_;    // the values at `start`
    std::span<Element const> sent_;  // with the correction
};

}  // namespace detail

/// Decentralised training without the bias of `mixer`: at a constant rate all ranks come to the minimum of the mean of their functions, however unlike their
/// data, with one message of the values as they are.
///
///     chorus::gossip::exact_diffusion mix{world, weights, chorus::topo::torus{}};
///     for (chorus::step_id t = 0; t < steps; ++t) {
///         …             // weights -= rate * the gradient at weights
///         mix.run(t);   // weights = W (weights + correction)
///     }
///
/// The correction is x of the last step less what it was mixed from: the gradient of each rank meets the one it had before, so ranks that agree stay there.
///
/// messages per step: one of 24 bytes + the values to each neighbour | memory: as `mixer`, a correction and, unless `keeps_progress` is false, the values
/// before the step | weights: symmetric, with no eigenvalue below -1/3: `lazy` ones have none below 0; with `full` and `metropolis`, W = J, it is BSP | the graph
/// must not change | nobody can be skipped | what is added between `start` and the end is kept, but not corrected
/// K. Yuan, B. Ying, X. Zhao, A. H. Sayed, "Exact diffusion for distributed optimization and learning" (IEEE Transactions on Signal Processing, 2019)
class exact_diffusion : public stepper {
 public:
    template <transport Transport, buffer Values, topo::graph Graph, topo::weighting Weighting = topo::lazy<topo::metropolis>>
        requires chorus::detail::real<element_of<Values>>
    exact_diffusion(group<Transport> const& members, Values&& values, Graph const& graph, Weighting const& weighting = {}, mixing_options const& options = {})
        : stepper{detail::steps_of(members, detail::diffusion<element_of<Values>>{chorus::detail::target_span(values), options.keeps_progress}, graph, weighting, options)} {}
};

}  // namespace chorus::gossip
