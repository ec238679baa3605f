// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/detail/message_pairs.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace chorus {

/// What the schedules of all ranks are said to do.
struct claim {
    collective operation = collective::all_reduce;
    rank_id root = 0;          ///< collectives with a root
    bool keeps_order = false;  ///< every combination joins neighbouring runs of ranks
    bool uneven = true;        ///< all_to_all: any block may have any length; others are always checked so
};

namespace detail {

struct cell_range {
    std::size_t begin = 0;
    std::size_t end = 0;

    std::size_t count() const noexcept { return end - begin; }
};

/// One rank's blocks as a row of cells: data, then input (all-to-all), then as many per slot as it is long. Each cell
/// has a class: cells of one class have the same length however the vector is cut; cells of two classes differ in
/// length for some cut, and near-equal ones suffice. So what is copied, combined or sent must meet the same classes
/// on both sides.
class cell_layout {
 public:
    cell_layout(schedule const& plan, rank_id me, rank_id size, claim const& said)
        : plan_{&plan}, is_all_to_all_{said.operation == collective::all_to_all} {
        auto of_pair = [&](rank_id from, rank_id to) { return said.uneven ? std::uint64_t{from} * size + to : 0; };
        for (rank_id b = 0; b < plan.blocks(); ++b) classes_.push_back(is_all_to_all_ ? of_pair(b, me) : b);
        for (rank_id b = 0; is_all_to_all_ && b < plan.blocks(); ++b) classes_.push_back(of_pair(me, b));
        slot_begin_.push_back(classes_.size());
        for (block_range like : plan.slots()) {
            if (like.where == space::scratch || !is_inside(like)) {
                why_ = "rank " + std::to_string(me) + ": a slot as long as " + text_of(like) + ", which does not exist";
                return;
            }
            cell_range const cells = of(like);
            for (std::size_t c = cells.begin; c < cells.end; ++c) classes_.push_back(classes_[c]);
            slot_begin_.push_back(classes_.size());
        }
        for (std::uint32_t i = 0; i < plan.steps().size() && why_.empty(); ++i)
            if (std::string const problem = problem_of(plan.steps()[i], size); !problem.empty())
                why_ = place_of(plan, me, i) + ": " + problem;
    }

    /// The empty string, or what is wrong with a range of this rank's steps.
    std::string const& why() const noexcept { return why_; }

    std::size_t count() const noexcept { return classes_.size(); }

    cell_range of(block_range range) const {
        if (range.where == space::scratch) return {slot_begin_[range.first], slot_begin_[range.end()]};
        std::size_t const offset = range.where == space::input ? plan_->blocks() : 0;
        return {offset + range.first, offset + range.end()};
    }

    bool is_alike(block_range mine, cell_layout const& there, block_range other) const {
        cell_range const a = of(mine);
        cell_range const b = there.of(other);
        if (a.count() != b.count()) return false;
        for (std::size_t i = 0; i < a.count(); ++i)
            if (classes_[a.begin + i] != there.classes_[b.begin + i]) return false;
        return true;
    }

 private:
    bool is_inside(block_range range) const {
        std::size_t limit = plan_->blocks();
        if (range.where == space::scratch) limit = plan_->slots().size();
        if (range.where == space::input && !is_all_to_all_) limit = 0;
        return std::size_t{range.first} + range.count <= limit;
    }

    std::string problem_of(step const& s, rank_id size) const {
        if (!is_inside(s.local) || (is_local(s.kind) && !is_inside(s.other))) return "a block range out of bounds";
        if (s.kind != step_kind::send && s.local.where == space::input) return "writes to the input";
        if (!is_local(s.kind)) return s.peer < size ? "" : "there are only " + std::to_string(size) + " ranks";
        if (s.kind != step_kind::fold)
            return is_alike(s.local, *this, s.other) ? "" : "the two ranges differ in length";
        if (s.other.where != space::scratch) return "folds something else than slots";
        if (s.position > s.other.count) return "folds at a place behind its operands";
        for (rank_id slot = s.other.first; slot < s.other.end(); ++slot)
            if (!is_alike(s.local, *this, {slot, 1, space::scratch}))
                return "slot " + std::to_string(slot) + " differs in length from what it is folded into";
        return "";
    }

    schedule const* plan_;
    bool is_all_to_all_;
    std::vector<std::uint64_t> classes_;
    std::vector<std::size_t> slot_begin_;  // first cell of each slot; one more than slots
    std::string why_;
};

}  // namespace detail
}  // namespace chorus
