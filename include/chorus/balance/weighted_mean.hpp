// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/detail/staged_plan.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/data/element.hpp"
#include "chorus/data/reduction.hpp"

#include <cmath>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// How much one rank counts in a weighted mean: the samples of its batch, say.
struct weighted_share {
    double mine = 1;   ///< read at each start; finite, not negative; 0: what lies in the buffer is not looked at
    double total = 0;  ///< written when done: the sum over the ranks

    friend bool operator==(weighted_share const&, weighted_share const&) = default;
};

namespace detail {

/// w·x for all elements and w behind them, in the type that they are summed in; and back.
template <class Element>
class weighted_copy {
 public:
    using carrier = wide_t<Element>;

    explicit weighted_copy(std::span<Element> in_out) : in_out_{in_out}, scaled_(in_out.size() + 1) {}

    std::span<carrier> scaled() noexcept { return scaled_; }

    void load(double weight) {
        expects(std::isfinite(weight) && weight >= 0, [&] { return "weighted mean: the weight " + std::to_string(weight) + " is not finite or below 0"; });
        auto const factor = static_cast<carrier>(weight);
        for (std::size_t i = 0; i < in_out_.size(); ++i) scaled_[i] = factor == 0 ? carrier{0} : factor * static_cast<carrier>(in_out_[i]);
        scaled_.back() = factor;
    }
    double store() const {
        carrier const total = scaled_.back();
        if (total != 0)
            for (std::size_t i = 0; i < in_out_.size(); ++i) in_out_[i] = static_cast<Element>(scaled_[i] / total);
        return static_cast<double>(total);
    }

 private:
    std::span<Element> in_out_;
    std::vector<carrier> scaled_;
};

}  // namespace detail

/// A plan for: every rank's `in_out` becomes Σ w_i x_i / Σ w_i. With x_i the mean gradient over a batch of w_i samples, that is the mean over all samples, however
/// unequally they are dealt out; equal weights give the plain mean. One all-reduce of n + 1 elements carries the sum of the products and of the weights.
///
/// collective | `in_out` and `share` stay the caller's and in place | where all weights are 0, `in_out` stays as it is and `total` is 0 | float and double are
/// summed in their own type, half and bfloat16 in float; w_i x_i and its sum must be within the range, sums of whole float weights are exact to 2^24 |
/// scratch n + 1 | same bits on all ranks | throws as all_reduce does; `invalid_argument` for a weight below 0 or not finite, which the peers are told
template <transport Transport, buffer Buffer, algorithm_choice Algorithm = automatic>
plan plan_weighted_mean_all_reduce(group<Transport> const& members, Buffer&& in_out, weighted_share& share, Algorithm const& algorithm = {},
                                   plan_options const& options = {}) {
    using element_type = element_of<Buffer>;
    static_assert(detail::real<element_type>, "chorus: a weighted mean needs floating-point elements");
    auto copy = std::make_shared<detail::weighted_copy<element_type>>(detail::target_span(in_out));
    auto add_up = std::make_shared<plan>(plan_all_reduce(members, copy->scaled(), sum{}, algorithm, options));
    std::vector<detail::staged_plan::stage> stages;
    stages.push_back([copy, add_up, &share]() -> plan& {
        copy->load(share.mine);
        return *add_up;
    });
    std::string title = "weighted mean of " + std::to_string(std::size(in_out)) + ' ' + std::string{element_name<element_type>()};
    return plan{std::make_unique<detail::staged_plan>(std::move(title), std::move(stages), [copy, &share] { share.total = copy->store(); },
                                                      detail::teller_of(members))};
}

/// The same, done at once; returns the sum of the weights.
template <transport Transport, buffer Buffer, algorithm_choice Algorithm = automatic>
double weighted_mean_all_reduce(group<Transport> const& members, Buffer&& in_out, double weight, Algorithm const& algorithm = {},
                                plan_options const& options = {}) {
    weighted_share share{.mine = weight};
    plan_weighted_mean_all_reduce(members, in_out, share, algorithm, options).run();
    return share.total;
}

}  // namespace chorus
