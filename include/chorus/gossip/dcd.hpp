// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/any_compressor.hpp"
#include "chorus/data/element.hpp"
#include "chorus/gossip/detail/coded_values.hpp"
#include "chorus/gossip/detail/estimates.hpp"
#include "chorus/gossip/detail/method_steps.hpp"
#include "chorus/gossip/stepper.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus::gossip {

namespace detail {

template <class Element>
class dcd_mixing : public coded_values<Element> {
 public:
    static constexpr std::string_view name = "dcd";
    static constexpr weight_law law = weight_law::rows_sum_to_one;
    static constexpr bool can_skip = false;

    dcd_mixing(std::span<Element> values, any_compressor compressor, rank_id rank, bool keeps_progress)
        : coded_values<Element>{values, std::move(compressor), rank, true}, keeps_progress_{keeps_progress}, pull_(values.size()), before_(values.size()) {
        for (Element const& value : values) this->distinguish(std::bit_cast<std::uint64_t>(wide(value)));
    }

    void expect_graph(neighbourhood& rows) {
        expects(rows.is_static(), [&] {
            return std::string{name} + " over " + rows.name() + ": the copies of neighbours' values need every message, and the weights before they come: expected a graph of period 1";
        });
        known_.begin(rows.at(0).from, this->values().size());
        known_.begin_with(this->values());
    }

    std::size_t pack(std::span<std::byte> payload) {
        auto const now = this->values();
        std::copy(now.begin(), now.end(), before_.begin());
        return this->encode(payload, [&](std::size_t i) { return wide(pull_[i]) + (wide(now[i]) - wide(known_.own(i))); });
    }

    void combine(arrivals const& came) {
        known_.add(this->compressor(), this->sent(), came);
        auto const now = this->mutable_values();
        known_.mix([&](std::size_t i, double mixed) {
            double const own = wide(known_.own(i));
            pull_[i] = static_cast<float>(mixed - own);
            now[i] = narrow<Element>(own + (keeps_progress_ ? wide(now[i]) - wide(before_[i]) : 0.0));
        });
    }

 private:
    bool keeps_progress_;
    estimates known_;            // the values themselves, as all know them
    std::vector<float> pull_;    // from the own ones to the mix of all
    std::vector<Element> before_;
};

}  // namespace detail

/// Difference compression, DCD-PSGD: neighbours keep exact copies of one another's values, and what is sent is the change, mixing and local update together. What
/// the compressor leaves out of it, the values do without.
///
///     chorus::gossip::dcd mix{world, weights, chorus::block_integer{}, chorus::topo::ring_graph{}};   // the weights are the same on all ranks
///     for (chorus::step_id t = 0; t < steps; ++t) {
///         …             // u, the local update, is added to x
///         mix.run(t);   // z = Σ w_j x_j - x + u, x += C(z)
///     }
///
/// For compressors that lose little: the mean is what the messages say it is, so it is kept in the mean over the random choices where the compressor is
/// unbiased, and drifts where it is not; one that stretches vectors diverges. `error_feedback` keeps the mean of values and residuals together, and helps or
/// diverges: signs on a ring of eight learn, the largest tenth does not. `choco` has neither limit.
///
/// messages per step: one of 24 bytes + max_wire_bytes(count) to each neighbour | memory: 12 count bytes and a snapshot, 4 count bytes for each neighbour, messages
/// | what is added to the values between `start` and the end waits for the next step | uncompressed, the values are those of `mixer` started before the local update
/// and ended after it, but for roundings | values must be equal on all ranks when it is made (`mismatch` otherwise) and the graph have period 1; `skip` is
/// refused | float, double, half, bfloat16; what the others know is of float, so values are rounded to it
/// H. Tang et al., "Communication compression for decentralized training" (NeurIPS 2018)
class dcd : public stepper {
 public:
    template <transport Transport, buffer Values, topo::graph Graph, topo::weighting Weighting = topo::metropolis>
        requires chorus::detail::real<element_of<Values>>
    dcd(group<Transport> const& members, Values&& values, any_compressor compressor, Graph const& graph, Weighting const& weighting = {}, mixing_options const& options = {})
        : stepper{detail::steps_of(members,
                                   detail::dcd_mixing<element_of<Values>>{chorus::detail::target_span(values), std::move(compressor), members.rank(), options.keeps_progress},
                                   graph, weighting, options)} {}
};

}  // namespace chorus::gossip
