// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/collective/compression.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/sync/policy.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chorus::detail {

/// The plans of one group for buffers of one slot, one per bucket.
struct plan_set {
    std::size_t slot;
    bool is_weighted;  ///< sums of values that were scaled before, instead of means
    std::vector<plan> plans;
    std::vector<compression> carried;  ///< as many, or none
};

/// A group that a policy has named, and what is kept for it.
template <transport Transport>
struct meeting {
    membership who;
    group<Transport> members;
    step_id last_used;
    std::vector<std::unique_ptr<plan_set>> sets;

    plan_set* find(std::size_t slot, bool is_weighted) const noexcept {
        for (auto const& set : sets)
            if (set->slot == slot && set->is_weighted == is_weighted) return set.get();
        return nullptr;
    }
};

/// The groups that a policy names, kept with their plans: those of one period, or where there is none (or a longer one than `most_phases`), those named within the
/// last `kept_steps` steps. Members meet at the same steps, so they forget a group at the same step too and number its plans alike.
template <transport Transport, sync_policy Policy>
class meetings {
 public:
    static constexpr step_id most_phases = 4096;

    /// `kept_steps` is at least 1 and at least the longest delay of an exchange.
    meetings(group<Transport> world, Policy policy, step_id kept_steps)
        : world_{std::move(world)}, policy_{std::move(policy)}, label_{next_plan(world_.net(), *world_.state())}, kept_steps_{kept_steps} {
        step_id const period = policy_.period(world_.size());
        if (period > 0 && period <= most_phases) phases_.resize(static_cast<std::size_t>(period));
    }

    group<Transport> const& world() const noexcept { return world_; }
    Policy const& policy() const noexcept { return policy_; }

    /// The group of a step, or null: alone. In the second period and later nothing is allocated.
    meeting<Transport>* at(step_id step) {
        if (phases_.empty()) {
            std::erase_if(known_, [&](auto const& m) { return m->last_used + kept_steps_ < step; });
            return used(find(policy_.at(step, world_.rank(), world_.size())), step);
        }
        phase& now = phases_[static_cast<std::size_t>(step % phases_.size())];
        if (!now.is_known) now = {true, find(policy_.at(step, world_.rank(), world_.size()))};
        return used(now.with, step);
    }

    std::vector<std::unique_ptr<meeting<Transport>>> const& all() const noexcept { return known_; }

 private:
    struct phase {
        bool is_known = false;
        meeting<Transport>* with = nullptr;
    };

    static meeting<Transport>* used(meeting<Transport>* now, step_id step) noexcept {
        if (now != nullptr) now->last_used = step;
        return now;
    }

    meeting<Transport>* find(membership who) {
        if (who.members.size() < 2) return nullptr;
        for (auto const& m : known_)
            if (m->who == who) return m.get();
        expects(std::is_sorted(who.members.begin(), who.members.end()) && (who.weights.empty() || who.weights.size() == who.members.size()), [&] {
            return "synchroniser on rank " + std::to_string(world_.rank()) + ": the policy " + std::string{Policy::name} + " named " +
                   std::to_string(who.members.size()) + " members with " + std::to_string(who.weights.size()) + " weights, expected ascending ranks and a weight for each or none";
        });
        auto members = world_.subgroup(who.members, label_);
        known_.push_back(std::make_unique<meeting<Transport>>(meeting<Transport>{std::move(who), std::move(members), 0, {}}));
        return known_.back().get();
    }

    group<Transport> world_;
    Policy policy_;
    std::uint64_t label_;  // keeps the groups of several synchronisers apart
    step_id kept_steps_;
    std::vector<std::unique_ptr<meeting<Transport>>> known_;
    std::vector<phase> phases_;  // of one period
};

}  // namespace chorus::detail
