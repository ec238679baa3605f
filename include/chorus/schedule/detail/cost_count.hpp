// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/cost.hpp"
#include "chorus/schedule/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace chorus::detail {

/// Counts the schedules of all ranks, one after another, into a `cost`: each part is that of the rank that has most of it. `bytes` is what
/// all blocks of the caller's vector hold together; blocks are counted as equal.
class cost_count {
 public:
    explicit cost_count(double bytes) : bytes_{bytes} {}

    void add(schedule const& plan) {
        double const block = bytes_ / plan.blocks();
        auto blocks_of = [&](block_range range) {
            if (range.where != space::scratch) return double(range.count);
            double sum = 0;
            for (rank_id slot = range.first; slot < range.end(); ++slot) sum += plan.slots()[slot].count;
            return sum;
        };
        double sent = 0;
        double reduced = 0;
        used_.resize((std::max)(used_.size(), std::size_t{plan.rounds()}), false);
        for (std::uint32_t r = 0; r < plan.rounds(); ++r)
            for (std::uint32_t i = plan.round_begin(r); i < plan.round_begin(r + 1); ++i) {
                step const& s = plan.steps()[i];
                if (!is_local(s.kind)) used_[r] = true;
                if (s.kind == step_kind::send) sent += blocks_of(s.local);
                if (s.kind == step_kind::recv_reduce || s.kind == step_kind::reduce) reduced += blocks_of(s.local);
                if (s.kind == step_kind::fold) reduced += blocks_of(s.other);
            }
        double const scratch = blocks_of({0, static_cast<rank_id>(plan.slots().size()), space::scratch});
        most_.bytes_sent = (std::max)(most_.bytes_sent, sent * block);
        most_.bytes_reduced = (std::max)(most_.bytes_reduced, reduced * block);
        most_.scratch_bytes = (std::max)(most_.scratch_bytes, scratch * block);
    }

    cost result() const {
        cost c = most_;
        c.rounds = static_cast<double>(std::count(used_.begin(), used_.end(), true));
        return c;
    }

 private:
    double bytes_;
    cost most_;
    std::vector<bool> used_;  // round -> some rank sends or receives in it
};

}  // namespace chorus::detail
