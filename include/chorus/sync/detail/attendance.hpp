// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/types.hpp"
#include "chorus/collective/all_gather.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace chorus::detail {

/// At each step every rank says whether it has made a step of its own: one all-gather of a byte per rank.
template <transport Transport>
class attendance {
 public:
    attendance(group<Transport> const& world, time_limit deadline)
        : me_{world.rank()}, is_there_(world.size(), 1), told_{plan_all_gather(world, is_there_, automatic{}, {.deadline = deadline})} {}

    void start(bool is_there) {
        is_there_[me_] = is_there ? 1 : 0;
        told_.start();
    }
    plan& told() noexcept { return told_; }

    bool is_there(rank_id r) const noexcept { return is_there_[r] != 0; }
    bool is_anybody_there() const noexcept { return std::find(is_there_.begin(), is_there_.end(), 1) != is_there_.end(); }
    rank_id count(std::span<rank_id const> ranks) const noexcept {
        return static_cast<rank_id>(std::count_if(ranks.begin(), ranks.end(), [&](rank_id r) { return is_there(r); }));
    }

 private:
    rank_id me_;
    std::vector<std::uint8_t> is_there_;
    plan told_;
};

}  // namespace chorus::detail
