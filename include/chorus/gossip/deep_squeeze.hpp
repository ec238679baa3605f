// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/any_compressor.hpp"
#include "chorus/compress/error_feedback.hpp"
#include "chorus/data/element.hpp"
#include "chorus/gossip/detail/coded_values.hpp"
#include "chorus/gossip/detail/method_steps.hpp"
#include "chorus/gossip/stepper.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::gossip {

namespace detail {

template <class Element>
class deep_squeeze_mixing : public coded_values<Element> {
 public:
    static constexpr std::string_view name = "deep_squeeze";
    static constexpr weight_law law = weight_law::rows_sum_to_one;
    static constexpr bool can_skip = true;

    deep_squeeze_mixing(std::span<Element> values, any_compressor const& compressor, rank_id rank, double consensus_step, bool keeps_progress)
        : coded_values<Element>{values, any_compressor{error_feedback<any_compressor>{compressor}}, rank, keeps_progress},
          kind_{compressor.kind()}, consensus_step_{consensus_step}, decoded_(values.size()), sums_(values.size()) {
        this->distinguish(std::bit_cast<std::uint64_t>(consensus_step));
    }

    void expect_graph(neighbourhood const&) const {
        this->expect_step(consensus_step_, name);
        this->expect_no_residual(kind_, name);
    }

    std::size_t pack(std::span<std::byte> payload) {
        auto const now = this->values();
        return this->encode(payload, [&](std::size_t i) { return wide(now[i]); });
    }

    void combine(arrivals const& came) {
        std::fill(sums_.begin(), sums_.end(), 0.0);
        take(came.own - 1.0, this->sent());
        for (std::size_t k = 0; k < came.payloads.size(); ++k) take(came.weights[k], came.payloads[k]);
        for (std::size_t i = 0; i < sums_.size(); ++i) this->add(i, consensus_step_ * sums_[i]);
    }

 private:
    void take(double weight, std::span<std::byte const> payload) {
        this->compressor().decode(payload, decoded_);
        for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += weight * wide(decoded_[i]);
    }

    std::string kind_;
    double consensus_step_;
    std::vector<float> decoded_;
    std::vector<double> sums_;
};

}  // namespace detail

/// Gossip of compressed values with error feedback: what a message leaves out is in the next ones, and no neighbour's values are kept.
///
///     chorus::gossip::deep_squeeze mix{world, weights, chorus::sign_bit{}, chorus::topo::one_peer_exponential{}, 0.5};
///     for (chorus::step_id t = 0; t < steps; ++t) {
///         …             // the local update
///         mix.run(t);   // v = x + residual, residual = v - C(v), x += η (Σ w_j C(v_j) - C(v))
///     }
///
/// η, the consensus step, is above 0 to 1. What is compressed is the values themselves, so their distance from the mean falls to about η residuals and no
/// lower, unless the values go to 0; `choco` falls further, for the memory of an estimate per neighbour, and cannot skip or follow graphs without a period.
///
/// messages per step: one of 24 bytes + max_wire_bytes(count) to each neighbour | memory: 28 count bytes, messages | the mean is kept where W is doubly
/// stochastic at every step and nobody is skipped, whatever the compressor loses; sent + residual = values + residual before | skipping a neighbour leaves its
/// weight with the rank, as in `mixer` | what is added to the values between `start` and the end is kept | compressors that keep a residual of their own are
/// refused | float, double, half, bfloat16; messages are of float
/// H. Tang et al., "DeepSqueeze: decentralization meets error-compensated compression" (2019)
class deep_squeeze : public stepper {
 public:
    template <transport Transport, buffer Values, topo::graph Graph, topo::weighting Weighting = topo::metropolis>
        requires chorus::detail::real<element_of<Values>>
    deep_squeeze(group<Transport> const& members, Values&& values, any_compressor const& compressor, Graph const& graph, double consensus_step,
                 Weighting const& weighting = {}, mixing_options const& options = {})
        : stepper{detail::steps_of(members,
                                   detail::deep_squeeze_mixing<element_of<Values>>{chorus::detail::target_span(values), compressor, members.rank(), consensus_step,
                                                                                   options.keeps_progress},
                                   graph, weighting, options)} {}
};

}  // namespace chorus::gossip
