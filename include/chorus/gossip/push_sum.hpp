// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/data/element.hpp"
#include "chorus/gossip/detail/arrivals.hpp"
#include "chorus/gossip/detail/method_steps.hpp"
#include "chorus/gossip/stepper.hpp"
#include "chorus/topo/weights.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::gossip {

namespace detail {

/// A message is the sender's weight, the share of it and of the values that the receiver is given, and the values.
template <class Element>
class pushed_sums {
 public:
    static constexpr std::string_view name = "push_sum";
    static constexpr weight_law law = weight_law::columns_sum_to_one;
    static constexpr bool can_skip = true;

    pushed_sums(std::span<Element> sums, std::span<Element> means, std::shared_ptr<double> weight, bool keeps_progress)
        : sums_{sums}, means_{means}, weight_{std::move(weight)}, keeps_progress_{keeps_progress} {}

    std::span<Element const> values() const noexcept { return means_; }
    std::size_t payload_bytes() const noexcept { return sizeof(part) + sums_.size_bytes(); }
    std::uint64_t digest() const noexcept { return digest_of<Element>(); }
    void expect_graph(neighbourhood const&) const {
        expects(sums_.size() == means_.size() && (sums_.empty() || sums_.data() != means_.data()), [&] {
            return "push_sum: " + std::to_string(sums_.size()) + " sums and " + std::to_string(means_.size()) + " means; as many are needed, in memory of their own";
        });
    }

    std::size_t pack(std::span<std::byte> payload, topo::mixing_row const& row) noexcept {
        sent_ = {*weight_, row.own};
        std::memcpy(payload.data(), &sent_, sizeof sent_);
        if (!sums_.empty()) std::memcpy(payload.data() + sizeof sent_, sums_.data(), sums_.size_bytes());
        snapshot_ = {elements_of<Element>(payload, sizeof sent_), sums_.size()};
        return payload.size();
    }

    /// What was to be sent and was not is kept: all shares of a rank are equal.
    void combine(arrivals& came) noexcept {
        came.own = sent_.share * static_cast<double>(1 + came.unsent);
        double weight = came.own * sent_.weight + late_weight_;
        for (std::size_t k = 0; k < came.payloads.size(); ++k) weight += came.weights[k] * part::of(came.payloads[k]).weight;
        *weight_ = weight;
        mix_each(snapshot_, came, sizeof(part), [&](std::size_t i, double mixed) {
            double const late = late_.empty() ? 0.0 : late_[i];
            double const progress = keeps_progress_ ? wide(sums_[i]) - wide(snapshot_[i]) : 0.0;
            sums_[i] = narrow<Element>(mixed + late + progress);
            means_[i] = narrow<Element>(wide(sums_[i]) / weight);
        });
        late_weight_ = 0.0;
        std::fill(late_.begin(), late_.end(), 0.0);
    }

    /// Kept apart until the end of the step, since the values are the caller's until then.
    void take_late(std::span<std::byte const> payload) {
        part const sent = part::of(payload);
        late_.resize(sums_.size());
        late_weight_ += sent.share * sent.weight;
        Element const* const values = elements_of<Element>(payload, sizeof sent);
        for (std::size_t i = 0; i < late_.size(); ++i) late_[i] += sent.share * wide(values[i]);
    }

 private:
    struct part {
        double weight = 1.0;
        double share = 1.0;

        static part of(std::span<std::byte const> payload) noexcept {
            part found;
            std::memcpy(&found, payload.data(), sizeof found);
            return found;
        }
    };

    std::span<Element> sums_;
    std::span<Element> means_;
    std::shared_ptr<double> weight_;  // read by the owner
    bool keeps_progress_;
    part sent_;
    std::span<Element const> snapshot_;  // as it was sent
    double late_weight_ = 0.0;
    std::vector<double> late_;  // empty until something comes late
};

}  // namespace detail

/// Averages on directed graphs, the mixing step of stochastic gradient push: every rank cuts its sums x and its weight w, 1 at first, into equal shares, one
/// for itself and one for each that it sends to. The sums of all x and of all w are kept whatever the graph, so z = x / w tends to the mean of x, where
/// `mixer` would tend to a mean that favours ranks with many listeners.
///
///     chorus::gossip::push_sum push{world, sums, weights, chorus::topo::one_peer_exponential{}};   // weights = sums
///     for (chorus::step_id t = 0; t < steps; ++t) {
///         …              // the gradient at `weights`, which are z, subtracted from `sums`, which are x
///         push.run(t);   // weights = sums / push.weight()
///     }
///
/// Between `start` and `wait`, x may be updated as with `mixer`: what is added is kept.
///
/// messages per step: one of 40 bytes + the values to each neighbour | memory: as `mixer` | weights of the graph: `topo::out_degree` | sums in double, ascending
/// by rank | edges may go one way, graphs may change; the union over the steps must let each rank reach each | whole numbers stay exact where shares are halves,
/// quarters … | `disagreement` is that of the means z
/// With `late = skip`, whoever cannot be sent to leaves its share with the sender, and what comes after its step is added when it comes: sums are lost only
/// with a rank that is lost, and by a step that fails.
/// M. Assran, N. Loizou, N. Ballas, M. Rabbat, "Stochastic gradient push for distributed deep learning" (ICML 2019)
class push_sum : public stepper {
 public:
    /// Sets the means to the sums.
    template <transport Transport, buffer Sums, buffer Means, topo::graph Graph>
        requires chorus::detail::real<element_of<Sums>> && std::same_as<element_of<Sums>, element_of<Means>>
    push_sum(group<Transport> const& members, Sums&& sums, Means&& means, Graph const& graph, mixing_options const& options = {})
        : push_sum{std::make_shared<double>(1.0), members, chorus::detail::target_span(sums), chorus::detail::target_span(means), graph, options} {}

    /// w of this rank, that its sums are divided by. Written when a step ends.
    double weight() const noexcept { return *weight_; }

 private:
    template <transport Transport, class Element, class Graph>
    push_sum(std::shared_ptr<double> weight, group<Transport> const& members, std::span<Element> sums, std::span<Element> means, Graph const& graph, mixing_options const& options)
        : stepper{detail::steps_of(members, detail::pushed_sums<Element>{sums, means, weight, options.keeps_progress}, graph, topo::out_degree{}, options)}, weight_{std::move(weight)} {
        std::copy(sums.begin(), sums.end(), means.begin());
    }

    std::shared_ptr<double> weight_;
};

}  // namespace chorus::gossip
