// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/detail/staged_plan.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/low_rank.hpp"
#include "chorus/data/reduction.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// Factors alone, or with a residual around them.
template <class C> concept low_rank_compressor = std::same_as<C, low_rank> || std::same_as<C, error_feedback<low_rank>>;

namespace detail {

/// What one rank does before, between and after the all-reduces of P and Q.
template <low_rank_compressor C>
class low_rank_rounds {
 public:
    low_rank_rounds(std::span<float> in_out, C& by, float scale)
        : in_out_{in_out}, by_{by}, scale_{scale}, shape_{factors().shape(in_out.size())}, left_(shape_.left_count()), right_(shape_.right_count()) {}

    std::span<float> left() noexcept { return left_; }
    std::span<float> right() noexcept { return right_; }

    /// This rank's P, of iteration `i`.
    void begin_left(std::uint32_t i) {
        if (i == 0) matrix_ = corrected();
        else factors().keep(right_, shape_);
        factors().project(matrix_, left_);
    }
    /// This rank's Q, after P was added up; `is_last`: of the last iteration.
    void begin_right(bool is_last) {
        low_rank::orthogonalise(left_, shape_);
        factors().back_project(matrix_, left_, right_);
        if constexpr (has_residual)
            if (is_last && by_.options().against == approximation::own) settle();
    }
    void finish() {
        factors().keep(right_, shape_);
        if constexpr (has_residual)
            if (by_.options().against == approximation::averaged) settle();
        low_rank::reconstruct(left_, right_, shape_, in_out_);
        if (scale_ != 1.0f)
            for (float& x : in_out_) x *= scale_;
    }

 private:
    static constexpr bool has_residual = std::same_as<C, error_feedback<low_rank>>;

    low_rank& factors() noexcept {
        if constexpr (has_residual) return by_.inner;
        else return by_;
    }
    std::span<float const> corrected() {
        if constexpr (has_residual) return by_.correct(in_out_);
        else return in_out_;
    }
    /// Against P Qᵀ with the Q of now: this rank's own, or the mean. The target is overwritten later anyway, and x lies elsewhere.
    void settle() requires has_residual {
        low_rank::reconstruct(left_, right_, shape_, in_out_);
        by_.settle(in_out_);
    }

    std::span<float> in_out_;
    C& by_;
    float scale_;
    low_rank_shape shape_;
    std::vector<float> left_, right_;
    std::span<float const> matrix_;  // x, valid from the first stage to the last
};

}  // namespace detail

/// A plan for: `in_out` becomes P Qᵀ, the mean of all ranks' `in_out` seen as a matrix of low rank, or `size` times that for a sum. P = M Q is added up
/// with the Q that was kept, made orthonormal on every rank to the same bits, then Q = Mᵀ P is averaged and kept (PowerSGD; Vogels, Karimireddy, Jaggi,
/// NeurIPS 2019). Both are linear in M, so the result is that of one rank that holds the mean. Short vectors, whose factors are no shorter, are
/// all-reduced as they are, without a residual.
///
/// collective, equal counts | `by`: low_rank or error_feedback{low_rank}, which all ranks hold with equal parameters and history, and which the caller
/// keeps alive and at its place; `in_out` as well | residual against `own`: x - P Qᵀ with this rank's Q, which stays as small as what was not said;
/// against `averaged`, as in the paper: x - the result, so that a rank whose gradients differ from the others' keeps that difference again and again;
/// their sums over ranks are equal | bytes: of two all-reduces, of rank · rows and rank · columns floats, for each iteration | same bits on all ranks |
/// NaN and infinity: NaN everywhere, or refused; `sanitise` is `invalid_argument` | not finite also where P, a sum over ranks, leaves the range of a
/// float | throws as all_reduce does
template <transport Transport, low_rank_compressor C, class Op, algorithm_choice Algorithm = automatic>
    requires std::same_as<Op, sum> || std::same_as<Op, mean>
plan plan_low_rank_all_reduce(group<Transport> const& members, std::span<float> in_out, Op const& op, C& by, Algorithm const& algorithm = {},
                              plan_options const& options = {}) {
    low_rank const& factors = [&]() -> low_rank const& {
        if constexpr (std::same_as<C, low_rank>) return by;
        else return by.inner;
    }();
    detail::expects(!options.carried_by, [] { return "low_rank_all_reduce: its messages are compressed already"; });
    detail::expects(factors.on_nonfinite != nonfinite::sanitise, [] { return "low_rank_all_reduce cannot sanitise: clean the vector before"; });
    std::string const what = "low_rank_all_reduce of " + std::to_string(in_out.size()) + " float";
    std::vector<detail::staged_plan::stage> stages;
    auto const add = [&](plan made, auto before) {
        stages.push_back([before, run = std::make_shared<plan>(std::move(made))]() -> plan& { return before(), *run; });
    };
    if (!factors.is_worthwhile(in_out.size())) {
        add(plan_all_reduce(members, in_out, op, algorithm, options), [] {});
        return plan{std::make_unique<detail::staged_plan>(what + " as they are", std::move(stages), [] {}, detail::teller_of(members))};
    }
    float const scale = std::same_as<Op, sum> ? static_cast<float>(members.size()) : 1.0f;
    auto rounds = std::make_shared<detail::low_rank_rounds<C>>(in_out, by, scale);
    for (std::uint32_t i = 0; i < factors.iterations; ++i) {
        bool const is_last = i + 1 == factors.iterations;
        add(plan_all_reduce(members, rounds->left(), sum{}, algorithm, options), [rounds, i] { rounds->begin_left(i); });
        add(plan_all_reduce(members, rounds->right(), mean{}, algorithm, options), [rounds, is_last] { rounds->begin_right(is_last); });
    }
    return plan{std::make_unique<detail::staged_plan>(what + " by rank " + std::to_string(factors.rank), std::move(stages), [rounds] { rounds->finish(); },
                                                      detail::teller_of(members))};
}

}  // namespace chorus
