// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/element.hpp"
#include "chorus/gossip/detail/arrivals.hpp"
#include "chorus/gossip/detail/correction.hpp"
#include "chorus/gossip/detail/method_steps.hpp"
#include "chorus/gossip/stepper.hpp"
#include "chorus/topo/weights.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace chorus::gossip {

namespace detail {

/// A message is the values and the tracker.
template <class Element>
class tracked_gradients {
 public:
    static constexpr std::string_view name = "gradient_tracking";
    static constexpr weight_law law = weight_law::doubly;
    static constexpr bool can_skip = false;
    static constexpr std::string_view why_none_is_skipped = "trackers that missed a message would never again sum to the gradients, so none can be skipped";

    tracked_gradients(std::span<Element> values, std::span<Element> gradients, bool keeps_progress)
        : values_{values}, gradients_{gradients}, correction_{values.size()}, keeps_progress_{keeps_progress} {}

    std::span<Element const> values() const noexcept { return values_; }
    std::size_t payload_bytes() const noexcept { return 2 * values_.size_bytes(); }
    std::uint64_t digest() const noexcept { return digest_of<Element>(); }
    void expect_graph(neighbourhood const&) const {
        expects(gradients_.size() == values_.size() && (values_.empty() || gradients_.data() != values_.data()), [&] {
            return "gradient_tracking: " + std::to_string(values_.size()) + " values and " + std::to_string(gradients_.size()) + " gradients; as many are needed, in memory of their own";
        });
    }

    std::size_t pack(std::span<std::byte> payload) noexcept {
        auto* const tracker = elements_of<Element>(payload, values_.size_bytes());
        if (!values_.empty()) std::memcpy(payload.data(), values_.data(), values_.size_bytes());
        for (std::size_t i = 0; i < gradients_.size(); ++i) tracker[i] = gradients_[i] = correction_.applied(i, gradients_[i]);
        snapshot_ = {elements_of<Element>(payload), values_.size()};
        tracker_ = {tracker, values_.size()};
        return payload.size();
    }

    void combine(arrivals const& came) noexcept {
        mix_each(snapshot_, came, 0, [&](std::size_t i, double mixed) {
            double const progress = keeps_progress_ ? wide(values_[i]) - wide(snapshot_[i]) : 0.0;
            values_[i] = narrow<Element>(mixed + progress);
        });
        mix_each(tracker_, came, values_.size_bytes(), [&](std::size_t i, double mixed) { correction_.grow(i, mixed, tracker_[i]); });
    }

 private:
    std::span<Element> values_;
    std::span<Element> gradients_;
    correction<Element> correction_;  // of the gradient: the tracker less the gradient
    bool keeps_progress_;
    std::span<Element const> snapshot_;  // as they were sent
    std::span<Element const> tracker_;
};

}  // namespace detail

/// Decentralised training without the bias of `mixer`: every rank tracks the mean of all ranks' gradients and steps along that, so that at a constant rate all
/// come to the minimum of the mean of their functions, however unlike their data.
///
///     chorus::gossip::gradient_tracking track{world, weights, gradients, chorus::topo::one_peer_exponential{}};
///     for (chorus::step_id t = 0; t < steps; ++t) {
///         …                 // gradients: this rank's own, at weights
///         track.start(t);   // gradients: the tracker y = W y of the last step + gradient - last gradient
///         …                 // weights -= rate * gradients: any optimiser
///         track.wait();     // weights = W weights - rate * y
///     }
///
/// At every step the trackers' mean is the gradients' mean, whatever the gradients are.
/// It diverges unless rate * curvature is below (1 + λ)² / 2, λ being the least eigenvalue of W where that is symmetric: `topo::lazy` weights, with no λ below 0,
/// allow larger rates on graphs like `torus`.
///
/// messages per step: one of 24 bytes + twice the values to each neighbour | memory: as `mixer` with twice the values, and a correction | weights: rows and
/// columns sum to 1 | graphs may change | nobody can be skipped | whoever updates before `start` has steps along gradients that are not tracked yet
/// A. Nedić, A. Olshevsky, W. Shi, "Achieving geometric convergence for distributed optimization over time-varying graphs" (SIAM J. Optimization, 2017)
class gradient_tracking : public stepper {
 public:
    template <transport Transport, buffer Values, buffer Gradients, topo::graph Graph, topo::weighting Weighting = topo::metropolis>
        requires chorus::detail::real<element_of<Values>> && std::same_as<element_of<Values>, element_of<Gradients>>
    gradient_tracking(group<Transport> const& members, Values&& values, Gradients&& gradients, Graph const& graph, Weighting const& weighting = {}, mixing_options const& options = {})
        : stepper{detail::steps_of(members, detail::tracked_gradients<element_of<Values>>{chorus::detail::target_span(values), chorus::detail::target_span(gradients), options.keeps_progress}, graph,
                                   weighting, options)} {}
};

}  // namespace chorus::gossip
