// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/sync/detail/policy_text.hpp"
#include "chorus/sync/policy.hpp"

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace chorus {

namespace detail {

class policy_model {
 public:
    virtual ~policy_model() = default;
    virtual std::string_view kind() const = 0;
    virtual std::string describe() const = 0;
    virtual membership at(step_id step, rank_id rank, rank_id size) const = 0;
    virtual step_id period(rank_id size) const = 0;
    virtual std::shared_ptr<policy_model const> in_rounds() const = 0;  ///< null: all ranks count alike
};

template <class P>
class policy_model_of final : public policy_model {
 public:
    explicit policy_model_of(P p) : p_{std::move(p)} {}

    std::string_view kind() const override { return P::name; }
    std::string describe() const override { return described_policy(p_); }
    membership at(step_id step, rank_id rank, rank_id size) const override { return p_.at(step, rank, size); }
    step_id period(rank_id size) const override { return p_.period(size); }
    std::shared_ptr<policy_model const> in_rounds() const override {
        if constexpr (own_step_policy<P>) {
            return std::make_shared<policy_model_of<decltype(p_.in_rounds())>>(p_.in_rounds());
        } else {
            return nullptr;
        }
    }

 private:
    P p_;
};

}  // namespace detail

/// Any policy as one ordinary type, for choices made at run time. A value that never changes: copies share it, and may be
/// used from several threads. Equal if `describe()` is. Constructing allocates once.
class any_policy {
 public:
    static constexpr std::string_view name = "any_policy";

    template <class P>
        requires(!std::same_as<std::remove_cvref_t<P>, any_policy>) && requires { std::remove_cvref_t<P>::name; } &&
                sync_policy<std::remove_cvref_t<P>>
    any_policy(P&& p) : model_{std::make_shared<detail::policy_model_of<std::remove_cvref_t<P>>>(std::forward<P>(p))} {}

    /// The name of the policy inside.
    std::string_view kind() const { return model_->kind(); }

    /// The same with the parameters that differ from their defaults, "local_steps(period=4)"; `policy_named` reads it.
    std::string describe() const { return model_->describe(); }

    membership at(step_id step, rank_id rank, rank_id size) const { return model_->at(step, rank, size); }
    step_id period(rank_id size) const { return model_->period(size); }

    /// Whether ranks count their own steps; if not, `in_rounds` is the same policy.
    bool counts_own_steps() const { return model_->in_rounds() != nullptr; }
    any_policy in_rounds() const {
        auto rounds = model_->in_rounds();
        return rounds ? any_policy{std::move(rounds)} : *this;
    }

    friend bool operator==(any_policy const& a, any_policy const& b) {
        return a.model_ == b.model_ || a.describe() == b.describe();
    }

 private:
    explicit any_policy(std::shared_ptr<detail::policy_model const> model) : model_{std::move(model)} {}

    std::shared_ptr<detail::policy_model const> model_;
};
static_assert(own_step_policy<any_policy>);

}  // namespace chorus
