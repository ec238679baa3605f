// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/types.hpp"
#include "chorus/sync/policy.hpp"
#include "chorus/topo/mixing.hpp"
#include "chorus/topo/mixing_matrix.hpp"

#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace chorus {

// Whether and how fast a policy brings all ranks together, by arithmetic. `steps` is how many steps, from 0, are looked at; 0:
// a whole period, or the first `steps_without_period` of a policy that has none. Where ranks count their own steps, rounds.

inline constexpr step_id steps_without_period = 4096;

/// All groups of a step, in the order of their lowest ranks.
template <sync_policy Policy>
std::vector<membership> partition_of(Policy const& policy, step_id step, rank_id size) {
    std::vector<membership> groups;
    std::vector<bool> seen(size, false);
    for (rank_id rank = 0; rank < size; ++rank) {
        if (seen[rank]) continue;
        groups.push_back(policy.at(step, rank, size));
        for (rank_id const member : groups.back().members)
            if (member < size) seen[member] = true;
    }
    return groups;
}

/// Two sets of ranks between which no values ever go, together all ranks; each is ascending.
struct sets_apart {
    std::vector<rank_id> one;  ///< rank 0 and whomever it meets, directly or through others
    std::vector<rank_id> other;

    friend bool operator==(sets_apart const&, sets_apart const&) = default;
};

namespace detail {

/// Calls use(policy, steps), in rounds where ranks count their own steps.
template <sync_policy Policy, class Use>
auto over_period(Policy const& policy, rank_id size, step_id steps, Use const& use) {
    if constexpr (own_step_policy<Policy>) {
        auto const rounds = policy.in_rounds();
        step_id const period = steps > 0 ? steps : rounds.period(size);
        return use(rounds, period > 0 ? period : steps_without_period);
    } else {
        step_id const period = steps > 0 ? steps : policy.period(size);
        return use(policy, period > 0 ? period : steps_without_period);
    }
}

/// Which ranks have met, directly or through others: sets that grow together.
class met_ranks {
 public:
    explicit met_ranks(rank_id size) : next_(size), sets_{size} { std::iota(next_.begin(), next_.end(), rank_id{0}); }

    rank_id sets() const noexcept { return sets_; }
    rank_id set_of(rank_id rank) {
        while (next_[rank] != rank) rank = next_[rank] = next_[next_[rank]];
        return rank;
    }
    void meet(membership const& group) {
        for (rank_id const member : group.members) {
            rank_id const one = set_of(group.members.front());
            rank_id const other = set_of(member);
            if (one == other) continue;
            next_[other] = one;
            --sets_;
        }
    }

 private:
    std::vector<rank_id> next_;
    rank_id sets_;
};

/// "0, 2, 4 and 1021 more"
inline std::string told_ranks(std::vector<rank_id> const& ranks) {
    constexpr std::size_t most = 8;
    std::string text;
    for (std::size_t i = 0; i < ranks.size() && i < most; ++i) text += (i > 0 ? ", " : "") + std::to_string(ranks[i]);
    if (ranks.size() > most) text += " and " + std::to_string(ranks.size() - most) + " more";
    return (ranks.size() == 1 ? "rank " : "ranks ") + text;
}

}  // namespace detail

/// Rank 0's part of the ranks and the rest, if these never meet; nothing if all ranks do. Stops at the step that joins the
/// last ones | O(groups) calls of `at` for each step.
template <sync_policy Policy>
std::optional<sets_apart> find_sets_apart(Policy const& policy, rank_id size, step_id steps = 0) {
    return detail::over_period(policy, size, steps, [&](auto const& who, step_id looked_at) -> std::optional<sets_apart> {
        detail::met_ranks met{size};
        for (step_id step = 0; step < looked_at && met.sets() > 1; ++step)
            for (membership const& group : partition_of(who, step, size)) met.meet(group);
        if (met.sets() <= 1) return std::nullopt;
        sets_apart found;
        for (rank_id rank = 0; rank < size; ++rank)
            (met.set_of(rank) == met.set_of(0) ? found.one : found.other).push_back(rank);
        return found;
    });
}

/// Throws `invalid_argument`, naming the two sets, for a policy under which some ranks never meet others and replicas would
/// drift apart for ever. All ranks come to the same result without a message.
template <sync_policy Policy>
void expect_mixing(Policy const& policy, rank_id size, step_id steps = 0) {
    auto const found = find_sets_apart(policy, size, steps);
    detail::expects(!found, [&] {
        std::string const length = detail::over_period(policy, size, steps, [](auto const&, step_id n) { return std::to_string(n); });
        return std::string{Policy::name} + " of " + std::to_string(size) + " ranks, steps 0 to " + length + " - 1: " +
               detail::told_ranks(found->one) + " never average with " + detail::told_ranks(found->other) +
               ", not even through others";
    });
}

/// How fast ranks come together over a period: ‖(I - J) W‖₂ of all its steps together, J being the mean. The distance between
/// ranks falls at least by this factor; 0: all are equal after a period. Shares need not be equal; where they are this is
/// ‖W - J‖₂, the distance from the mean. Throws `invalid_argument` for shares that are negative or do not sum to 1.
/// O(size³) time and O(size²) words: for some hundreds of ranks
template <sync_policy Policy>
topo::mixing_speed mixing_speed_of(Policy const& policy, rank_id size, step_id steps = 0) {
    return detail::over_period(policy, size, steps, [&](auto const& who, step_id length) -> topo::mixing_speed {
        auto const matrix_at = [&](step_id step) {
            auto const member_of = [&](step_id now, rank_id rank) { return who.at(now, rank, size); };
            topo::mixing_matrix w = topo::partition_matrix(member_of, step, size);
            topo::expect_stochastic(w, topo::stochastic::rows);
            return w;
        };
        topo::mixing_matrix product = topo::mixing_product(matrix_at, size, length);
        std::vector<double> means(size, 1.0 / size);
        means = product.transposed().applied(means);
        for (rank_id i = 0; i < size; ++i)
            for (rank_id j = 0; j < size; ++j) product.row(i)[j] += 1.0 / size - means[j];
        return {length, topo::contraction(product)};
    });
}

/// mixing_speed_of(…).contraction: of a whole period.
template <sync_policy Policy>
double contraction(Policy const& policy, rank_id size, step_id steps = 0) {
    return mixing_speed_of(policy, size, steps).contraction;
}

}  // namespace chorus
