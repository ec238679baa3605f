// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/data/reduction.hpp"
#include "chorus/sync/detail/joined_spans.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// Rates and lengths of `push_pull`.
struct push_pull_options {
    std::uint32_t every = 5;     ///< k: a pull after each k-th step behind the warm-up
    step_id warm_up = 500;       ///< steps that pull each time
    double rate = 0.1;           ///< of the common weights
    double local_rate = 0.1;     ///< of the step between pulls
    double decay = 0;            ///< of weights, in both
    double own = 2;              ///< a: how much the own gradient counts in the local step
    double correction = 0.5;     ///< b: how much the movement since the last pull counts
    double movement_scale = 8;   ///< c: what that movement is divided by to look like a gradient

    friend bool operator==(push_pull_options const&, push_pull_options const&) = default;
};

/// Sends gradients every step and fetches weights every k-th: SSD-SGD (Wu et al., 2020), without a server. Each rank holds the common weights w̄ and steps them by the mean
/// gradient of all, w̄ ← w̄ - rate · (ḡ + decay · w̄), as pushes come in; nobody waits for them until a pull, which needs all pushes so far and makes w ← w̄. In between the
/// weights go on by the compensated local step
///
///     w ← w - local_rate · (own · g + decay · w + correction · ((1 - local_rate · decay) · w_pulled - w) / movement_scale)
///
/// with w_pulled the weights as pulled last. every = 1 and correction = 0 is plain synchronous SGD, to the bit.
///
/// collective: every rank calls `step` equally often with equal options and counts, from equal weights | `step` after gradients are there; blocks in the warm-up and at pulls |
/// spans are the caller's and stay in place; between steps they are free | bytes: an all-reduce of n a step | memory: (k + 2) n elements | `save`: pull first |
/// throws as all_reduce does
template <transport Transport, std::floating_point Element>
class push_pull {
 public:
    push_pull(group<Transport> const& members, std::vector<std::span<Element>> weights, std::vector<std::span<Element>> gradients, push_pull_options const& options = {})
        : weights_{std::move(weights)}, gradients_{std::move(gradients)}, options_{options}, pushed_(options.every) {
        detail::expects(options.every > 0 && options.movement_scale != 0, [] { return "push_pull: `every` and `movement_scale` must not be 0"; });
        detail::expects(weights_.size() == gradients_.size(), [&] {
            return "push_pull on rank " + std::to_string(members.rank()) + ": " + std::to_string(gradients_.size()) + " gradients for " + std::to_string(weights_.size()) + " weights";
        });
        for (std::uint64_t i = 0; i < weights_.size(); ++i) common_.push_back(weights_[i]);
        pulled_ = common_;
        for (std::vector<Element>& gradient : pushed_) {
            gradient.resize(common_.size());
            plans_.push_back(plan_all_reduce(members, gradient, mean{}));
        }
    }

    /// Sends the gradients; changes the weights by the local step, or by a pull where one is due. True: it pulled.
    bool step() {
        push();
        bool const is_due = steps_ < options_.warm_up || (steps_ + 1 - options_.warm_up) % options_.every == 0;
        ++steps_;
        if (is_due) pull();
        else step_locally();
        return is_due;
    }

    /// Waits for all pushes and takes the common weights. Collective: between two steps of all ranks.
    void pull() {
        for (std::size_t slot = 0; slot < under_way_; ++slot) {
            plans_[slot].wait();
            step_common(pushed_[slot]);
        }
        under_way_ = 0;
        pulled_ = common_;
        for (std::size_t i = 0; i < common_.size(); ++i) weights_[i] = common_[i];
        ++pulls_;
    }

    /// Helps along what is under way, without blocking.
    void advance() noexcept {
        for (std::size_t slot = 0; slot < under_way_; ++slot) plans_[slot].advance();
    }

    step_id steps() const noexcept { return steps_; }
    std::uint64_t pulls() const noexcept { return pulls_; }
    std::span<Element const> common() const noexcept { return common_; }  ///< w̄ as of the last pull

 private:
    void push() {
        std::vector<Element>& gradient = pushed_[under_way_];
        for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = gradients_[i];
        plans_[under_way_].start();
        ++under_way_;
    }

    void step_common(std::vector<Element> const& mean_gradient) noexcept {
        auto const rate = static_cast<Element>(options_.rate), decay = static_cast<Element>(options_.decay);
        for (std::size_t i = 0; i < common_.size(); ++i) common_[i] -= rate * (mean_gradient[i] + decay * common_[i]);
    }

    void step_locally() noexcept {
        auto const rate = static_cast<Element>(options_.local_rate), decay = static_cast<Element>(options_.decay), own = static_cast<Element>(options_.own);
        auto const back = static_cast<Element>(options_.correction / options_.movement_scale), kept = 1 - rate * decay;
        for (std::size_t i = 0; i < common_.size(); ++i) {
            Element const w = weights_[i];
            weights_[i] = w - rate * (own * gradients_[i] + decay * w + back * (kept * pulled_[i] - w));
        }
    }

    detail::joined_spans<Element> weights_;
    detail::joined_spans<Element> gradients_;
    push_pull_options options_;
    std::vector<Element> common_;
    std::vector<Element> pulled_;
    std::vector<std::vector<Element>> pushed_;  // since the last pull, in order; at most k
    std::vector<plan> plans_;
    std::size_t under_way_ = 0;
    step_id steps_ = 0;
    std::uint64_t pulls_ = 0;
};

}  // namespace chorus
