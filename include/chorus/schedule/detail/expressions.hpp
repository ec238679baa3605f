// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace chorus::detail {

/// Ranks first … end - 1.
struct rank_run {
    rank_id first = 0;
    rank_id end = 0;

    friend constexpr bool operator==(rank_run, rank_run) = default;
};

/// Expressions over the ranks' contributions, each stored once: two values are computed by the same operations in the
/// same order exactly when their numbers are equal. Number 0 is no value at all.
class expressions {
 public:
    static constexpr std::uint32_t undefined = 0;

    explicit expressions(rank_id ranks) : nodes_(std::size_t{ranks} + 1) {
        for (rank_id p = 0; p < ranks; ++p) nodes_[p + 1].runs = {{p, p + 1}};
    }

    /// What rank p put in.
    static constexpr std::uint32_t of_rank(rank_id p) noexcept { return p + 1; }

    /// left ⊕ right.
    std::uint32_t combine(std::uint32_t left, std::uint32_t right) {
        auto const [at, is_new] = pairs_.try_emplace({left, right}, static_cast<std::uint32_t>(nodes_.size()));
        if (is_new) nodes_.push_back(joined(nodes_[left], nodes_[right]));
        return at->second;
    }

    /// One accumulation over all operands; another value than pairwise combination, since it is rounded once.
    std::uint32_t fold(std::vector<std::uint32_t> const& operands) {
        if (operands.size() == 1) return operands.front();
        auto const [at, is_new] = folds_.try_emplace(operands, static_cast<std::uint32_t>(nodes_.size()));
        if (is_new) {
            node all = nodes_[operands.front()];
            for (std::size_t i = 1; i < operands.size(); ++i) all = joined(all, nodes_[operands[i]]);
            nodes_.push_back(std::move(all));
        }
        return at->second;
    }

    /// The ranks that contribute, as runs that are sorted, disjoint and not adjacent.
    std::vector<rank_run> const& ranks(std::uint32_t expression) const { return nodes_[expression].runs; }

    /// A rank that contributes more than once, or `nobody`.
    rank_id doubled(std::uint32_t expression) const { return nodes_[expression].doubled; }

    /// Whether every combination in it joined two neighbouring runs of ranks, the lower one on the left.
    bool keeps_order(std::uint32_t expression) const { return nodes_[expression].in_order; }

    bool is_exactly(std::uint32_t expression, rank_id first, rank_id end) const {
        node const& known = nodes_[expression];
        return known.doubled == nobody && known.runs == std::vector<rank_run>{{first, end}};
    }

 private:
    struct node {
        std::vector<rank_run> runs;
        rank_id doubled = nobody;
        bool in_order = true;
    };

    static node joined(node const& left, node const& right) {
        node both;
        both.doubled = left.doubled != nobody ? left.doubled : right.doubled;
        both.in_order = left.in_order && right.in_order && left.runs.size() == 1 && right.runs.size() == 1 &&
                        left.runs.front().end == right.runs.front().first;
        auto l = left.runs.begin();
        auto r = right.runs.begin();
        while (l != left.runs.end() || r != right.runs.end()) {
            bool const from_left = r == right.runs.end() || (l != left.runs.end() && l->first <= r->first);
            rank_run const next = from_left ? *l++ : *r++;
            if (!both.runs.empty() && next.first < both.runs.back().end) {
                if (both.doubled == nobody) both.doubled = next.first;
                if (next.end > both.runs.back().end) both.runs.back().end = next.end;
            } else if (!both.runs.empty() && next.first == both.runs.back().end) {
                both.runs.back().end = next.end;
            } else {
                both.runs.push_back(next);
            }
        }
        return both;
    }

    std::vector<node> nodes_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pairs_;
    std::map<std::vector<std::uint32_t>, std::uint32_t> folds_;
};

}  // namespace chorus::detail
