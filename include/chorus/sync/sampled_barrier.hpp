// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/random.hpp"
#include "chorus/base/types.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

/// Whom a rank looks at before it goes on, and how far ahead of them it may be: it passes if its clock is at most `bound` above the clocks of β other ranks, drawn
/// without replacement. Probabilistic synchronous parallel (Wang, Catterall, Mortier, 2017).
///
///     bound 0, everyone   BSP                        bound 0, sampled β   pBSP
///     bound s, everyone   SSP: |c_i - c_j| ≤ s + 1   bound s, sampled β   pSSP
///     bound `unbounded`, or sampled 0: ASP
///
/// With `weights` the others are drawn in proportion to them, as far as β allows; `sample_shares` then says each one's probability π of being drawn, so that a sum over
/// those drawn, each divided by its π, is unbiased. How AW-PSP scores ranks is not public: what the weights are made of, such as how likely a rank answers and how useful it is, is the user's.
struct sampled_barrier {
    static constexpr std::string_view name = "sampled_barrier";
    static constexpr std::uint64_t unbounded = (std::numeric_limits<std::uint64_t>::max)();
    static constexpr rank_id everyone = nobody;

    std::uint64_t bound = 0;         ///< s
    rank_id sampled = everyone;      ///< β; more than the others: everyone
    std::uint64_t seed = 0;          ///< of the draws, which differ between ranks
    std::vector<double> weights{};   ///< none, or one for each rank, positive
    std::chrono::nanoseconds back_off = std::chrono::milliseconds{1};  ///< who cannot pass draws again after so long

    bool is_free(rank_id size) const noexcept { return bound == unbounded || sampled == 0 || size < 2; }
    bool asks_everyone(rank_id size) const noexcept { return !is_free(size) && sampled >= size - 1; }

    friend bool operator==(sampled_barrier const&, sampled_barrier const&) = default;
};

/// The draws of one rank by a `sampled_barrier`, and their verdict. Local; no clock of the machine.
///
/// Unweighted: every set of β is equally likely; O(β). Weighted: systematic sampling on a shuffled order (Madow, 1949), which gives π_j = min(1, β w_j / Σ w) exactly, those at
/// 1 set apart first; O(p log p).
class barrier_sampler {
 public:
    barrier_sampler(sampled_barrier const& rule, rank_id rank, rank_id size)
        : rule_{rule}, random_{rule.seed, rank}, many_{rule.is_free(size) ? 0 : (std::min)(rule.sampled, size - 1)} {
        for (rank_id r = 0; r < size; ++r)
            if (r != rank) others_.push_back(r);
        shares_.assign(size, size < 2 ? 0.0 : static_cast<double>(many_) / (size - 1));
        shares_[rank] = 0;
        detail::expects(rule.weights.empty() || rule.weights.size() == size, [&] {
            return "sampled_barrier on rank " + std::to_string(rank) + ": " + std::to_string(rule.weights.size()) + " weights for " + std::to_string(size) + " ranks";
        });
        if (!rule.weights.empty()) find_shares();
        draw();
    }

    /// Draws anew.
    void draw() {
        for (std::size_t i = 0; i < (is_weighted() ? others_.size() : many_); ++i) {
            auto const from = i + static_cast<std::size_t>(random_.below(draws_++, others_.size() - i));
            std::swap(others_[i], others_[from]);
        }
        if (is_weighted()) draw_by_shares();
        else sample_.assign(others_.begin(), others_.begin() + static_cast<std::ptrdiff_t>(many_));
    }

    std::span<rank_id const> sample() const noexcept { return sample_; }

    /// The probability of each rank of being in a sample.
    std::span<double const> sample_shares() const noexcept { return shares_; }

    /// Whether a rank at `mine` may go on, by `clock_of(rank)` of those sampled.
    template <class ClockOf>
    bool passes(step_id mine, ClockOf const& clock_of) const {
        return blocked_by(mine, clock_of) == nobody;
    }

    /// One of the sampled that is too far behind, or nobody.
    template <class ClockOf>
    rank_id blocked_by(step_id mine, ClockOf const& clock_of) const {
        for (rank_id r : sample_)
            if (mine > rule_.bound && clock_of(r) < mine - rule_.bound) return r;
        return nobody;
    }

    sampled_barrier const& rule() const noexcept { return rule_; }

 private:
    bool is_weighted() const noexcept { return !rule_.weights.empty() && many_ > 0 && many_ < others_.size(); }

    void find_shares() {
        for (rank_id r : others_)
            detail::expects(rule_.weights[r] > 0 && std::isfinite(rule_.weights[r]), [&] {
                return "sampled_barrier: the weight of rank " + std::to_string(r) + " is " + std::to_string(rule_.weights[r]) + ", expected a positive number";
            });
        if (!is_weighted()) return;
        std::vector<rank_id> open = others_;
        std::sort(open.begin(), open.end(), [&](rank_id a, rank_id b) { return rule_.weights[a] > rule_.weights[b]; });
        double total = 0;
        for (auto r = open.rbegin(); r != open.rend(); ++r) total += rule_.weights[*r];
        double left = static_cast<double>(many_);
        for (rank_id r : open) {  // the heaviest first: who is drawn for certain leaves the rest to the others
            double const share = left * rule_.weights[r] / total;
            shares_[r] = (std::min)(1.0, share);
            if (share < 1) continue;
            left -= 1;
            total -= rule_.weights[r];
        }
    }

    void draw_by_shares() {
        sample_.clear();
        double next = random_.unit(draws_++), reached = 0;
        for (rank_id r : others_) {
            reached += shares_[r];
            if (sample_.size() == many_ || reached <= next) continue;
            sample_.push_back(r);
            next += 1;
        }
        for (std::size_t i = others_.size(); sample_.size() < many_ && i-- > 0;)  // what rounding cost
            if (std::find(sample_.begin(), sample_.end(), others_[i]) == sample_.end()) sample_.push_back(others_[i]);
    }

    sampled_barrier rule_;
    counter_random random_;
    std::uint64_t draws_ = 0;
    std::size_t many_;
    std::vector<rank_id> others_;
    std::vector<double> shares_;
    std::vector<rank_id> sample_;
};

}  // namespace chorus
