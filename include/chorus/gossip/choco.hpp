// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/any_compressor.hpp"
#include "chorus/data/element.hpp"
#include "chorus/gossip/detail/coded_values.hpp"
#include "chorus/gossip/detail/estimates.hpp"
#include "chorus/gossip/detail/method_steps.hpp"
#include "chorus/gossip/detail/standing_graph.hpp"
#include "chorus/gossip/stepper.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

namespace chorus::gossip {

namespace detail {

template <class Element>
class choco_mixing : public coded_values<Element> {
 public:
    static constexpr std::string_view name = "choco";
    static constexpr weight_law law = weight_law::rows_sum_to_one;
    static constexpr bool can_skip = false;

    choco_mixing(std::span<Element> values, any_compressor compressor, rank_id rank, double consensus_step, bool keeps_progress)
        : coded_values<Element>{values, std::move(compressor), rank, keeps_progress}, consensus_step_{consensus_step} {
        this->distinguish(std::bit_cast<std::uint64_t>(consensus_step));
    }

    void expect_graph(neighbourhood& rows) {
        this->expect_step(consensus_step_, name);
        this->expect_no_residual(this->compressor().kind(), name);
        known_.begin(rows.at(0).from, this->values().size());
    }

    std::size_t pack(std::span<std::byte> payload) {
        auto const now = this->values();
        return this->encode(payload, [&](std::size_t i) { return wide(now[i]) - wide(known_.own(i)); });
    }

    void combine(arrivals const& came) {
        known_.add(this->compressor(), this->sent(), came);
        known_.mix([&](std::size_t i, double mixed) { this->add(i, consensus_step_ * (mixed - wide(known_.own(i)))); });
    }

 private:
    double consensus_step_;
    estimates known_;
};

}  // namespace detail

/// Gossip through any compressor, which reaches the mean itself: neighbours estimate one another's values, what is sent is how far the own values are from
/// what the others take them for, and values move by the consensus step γ towards the mix of the estimates.
///
///     chorus::gossip::choco mix{world, weights, chorus::top_k{0.1}, chorus::topo::ring_graph{}, 0.2};
///     for (chorus::step_id t = 0; t < steps; ++t) {
///         …             // the local update
///         mix.run(t);   // q = C(x - x̂), x̂_j += q_j, x += γ (Σ w_j x̂_j - x̂)
///     }
///
/// γ is above 0 to 1, 1 for `uncompressed`: with it the values are D-PSGD's, as `mixer`'s but for a rounding of the element, to the bit where differences are
/// exact. Too large a γ diverges; what the theorem promises (`promised_consensus_step`) is far below what works: of the order of the share that is kept.
///
/// messages per step: one of 24 bytes + max_wire_bytes(count) to each neighbour | memory: 8 count bytes, 4 count bytes for each neighbour, messages | the mean
/// is kept where W is doubly stochastic, whatever the compressor loses | what is added to the values between `start` and the end is kept
/// | graphs that change with time: messages go to all who are neighbours at any step of the period; graphs without a period are refused, as are `skip`, since an
/// estimate that missed a message is wrong for ever, and compressors that keep a residual | float, double, half, bfloat16; estimates are of float
/// A. Koloskova, S. Stich, M. Jaggi, "Decentralized stochastic optimization and gossip algorithms with compressed communication" (ICML 2019)
class choco : public stepper {
 public:
    template <transport Transport, buffer Values, topo::graph Graph, topo::weighting Weighting = topo::metropolis>
        requires chorus::detail::real<element_of<Values>>
    choco(group<Transport> const& members, Values&& values, any_compressor compressor, Graph const& graph, double consensus_step, Weighting const& weighting = {},
          mixing_options const& options = {})
        : stepper{detail::steps_of(members,
                                   detail::choco_mixing<element_of<Values>>{chorus::detail::target_span(values), std::move(compressor), members.rank(), consensus_step,
                                                                            options.keeps_progress},
                                   detail::standing_graph<Graph>{graph}, detail::standing_weights<Weighting>{weighting}, options)} {}
};

/// A consensus step with which choco is proved to converge, for a symmetric doubly stochastic W of this spectral gap (`topo::spectral_gap`) and a compressor of
/// this contraction (`promise(count).contraction`): the squared distances from the mean and of the estimates fall by the factor 1 - gap² contraction / 82 a step.
constexpr double promised_consensus_step(double gap, double contraction) noexcept {
    constexpr double square = 4.0;  // at most |I - W|²
    return gap * gap * contraction / (16.0 * gap + gap * gap + 4.0 * square + 2.0 * gap * square - 8.0 * gap * contraction);
}

}  // namespace chorus::gossip
