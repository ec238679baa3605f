// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/detail/cell_layout.hpp"
#include "chorus/schedule/detail/expressions.hpp"
#include "chorus/schedule/detail/hazards.hpp"
#include "chorus/schedule/detail/message_pairs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus::detail {

/// Performs the schedules of all ranks on expressions instead of numbers.
class prover {
 public:
    prover(std::span<schedule const> plans, claim const& said)
        : plans_{plans}, said_{said}, size_{static_cast<rank_id>(plans.size())}, values_{size_}, ranks_(size_) {}

    /// The empty string, or why the claim does not hold.
    std::string run() {
        if (check_shape() && pair_messages() && perform()) check_results();
        return std::move(why_);
    }

 private:
    /// Block `origin` of the caller's vectors, as combined by `what`.
    struct value {
        rank_id origin = 0;
        std::uint32_t what = expressions::undefined;

        bool is_undefined() const noexcept { return what == expressions::undefined; }
    };

    struct rank_state {
        std::vector<value> cells;
        std::vector<std::vector<value>> sent; // per step
        std::vector<std::vector<bool>> told;  // barrier: per round, who was known to have entered when it began
        std::vector<bool> known;              // barrier: who is known to have entered
        std::uint32_t begun = 0;              // rounds whose messages are posted
        std::uint32_t done = 0;               // rounds complete
    };

    bool refuse(std::string why) {
        if (why_.empty()) why_ = std::move(why);
        return false;
    }
    bool refuse(rank_id me, std::uint32_t index, std::string const& why) {
        return refuse(place_of(plans_[me], me, index) + ": " + why);
    }

    // ---- before the first round ----

    bool is_all_to_all() const noexcept { return said_.operation == collective::all_to_all; }
    bool is_barrier() const noexcept { return said_.operation == collective::barrier; }

    bool check_shape() {
        if (size_ == 0) return refuse("there are no ranks");
        if (has_root(said_.operation) && said_.root >= size_)
            return refuse("root " + std::to_string(said_.root) + " of " + std::to_string(size_) + " ranks");
        rank_id const blocks = has_block_per_rank(said_.operation) ? size_ : plans_.front().blocks();
        if (blocks == 0) return refuse("rank 0: a schedule of no blocks");
        for (rank_id me = 0; me < size_; ++me) {
            if (plans_[me].blocks() != blocks)
                return refuse("rank " + std::to_string(me) + ": cuts into " + std::to_string(plans_[me].blocks()) +
                              " blocks instead of " + std::to_string(blocks));
            layouts_.emplace_back(plans_[me], me, size_, said_);
            if (!layouts_.back().why().empty()) return refuse(layouts_.back().why());
            std::string const hazard = is_barrier() ? "" : hazards{plans_[me], me, layouts_.back()}.find();
            if (!hazard.empty()) return refuse(hazard);
            fill_in(me);
        }
        return true;
    }

    /// What data and input hold at first.
    void fill_in(rank_id me) {
        rank_state& own = ranks_[me];
        own.cells.assign(layouts_[me].count(), value{});
        own.sent.resize(plans_[me].steps().size());
        own.known.assign(is_barrier() ? size_ : 0, false);
        if (is_barrier()) own.known[me] = true;
        for (rank_id b = 0; b < plans_[me].blocks(); ++b) {
            std::size_t const cell = is_all_to_all() ? plans_[me].blocks() + b : b;
            if (is_given(me, b)) own.cells[cell] = {b, expressions::of_rank(me)};
        }
    }

    bool is_given(rank_id me, rank_id block) const noexcept {
        switch (said_.operation) {
            case collective::broadcast:
            case collective::scatter: return me == said_.root;
            case collective::all_gather:
            case collective::gather: return me == block;
            default: return true;
        }
    }

    bool pair_messages() {
        if (std::string const alone = pairs_.match(plans_); !alone.empty()) return refuse(alone);
        for (rank_id me = 0; me < size_; ++me)
            for (std::uint32_t i = 0; i < plans_[me].steps().size(); ++i) {
                step const& s = plans_[me].steps()[i];
                if (s.kind != step_kind::send) continue;
                message_end const there = pairs_.partner(me, i);
                step const& taker = plans_[there.rank].steps()[there.step];
                if (!layouts_[me].is_alike(s.local, layouts_[there.rank], taker.local))
                    return refuse(me, i, "differs in length from what takes it, " +
                                             place_of(plans_[there.rank], there.rank, there.step));
            }
        return true;
    }

    // ---- performance ----

    bool perform() {
        if (!advance_all(true)) {
            if (!why_.empty()) return false;
            std::string const cycle = who_waits_for_whom();
            return refuse("deadlock" + std::string{advance_all(false) ? " unless sends are buffered: " : ": "} + cycle);
        }
        return true;
    }

    /// Until nothing moves; a send completes when its receive is posted (`rendezvous`) or at once. True if all ranks
    /// ended.
    bool advance_all(bool rendezvous) {
        bool moved = true;
        while (moved && why_.empty()) {
            moved = false;
            for (rank_id me = 0; me < size_; ++me)
                while (why_.empty() && advance(me, rendezvous)) moved = true;
        }
        for (rank_id me = 0; me < size_; ++me)
            if (ranks_[me].done != plans_[me].rounds()) return false;
        return why_.empty();
    }

    bool advance(rank_id me, bool rendezvous) {
        rank_state& own = ranks_[me];
        schedule const& plan = plans_[me];
        bool moved = false;
        for (; own.begun < plan.rounds() && own.begun - own.done < plan.in_flight(); moved = true)
            if (!begin_round(me)) return false;
        if (own.done == plan.rounds() || first_awaited(me, rendezvous) != plan.round_begin(own.done + 1)) return moved;
        return finish_round(me);
    }

    /// The first step of the earliest round under way whose other end is not posted; the end of the round if there is
    /// none.
    std::uint32_t first_awaited(rank_id me, bool rendezvous) const {
        schedule const& plan = plans_[me];
        std::uint32_t const end = plan.round_begin(ranks_[me].done + 1);
        for (std::uint32_t i = plan.round_begin(ranks_[me].done); i < end; ++i) {
            step_kind const kind = plan.steps()[i].kind;
            if (is_local(kind) || (kind == step_kind::send && !rendezvous)) continue;
            message_end const there = pairs_.partner(me, i);
            if (there.round >= ranks_[there.rank].begun) return i;
        }
        return end;
    }

    bool begin_round(rank_id me) {
        rank_state& own = ranks_[me];
        schedule const& plan = plans_[me];
        for (std::uint32_t i = plan.round_begin(own.begun); i < plan.round_begin(own.begun + 1); ++i) {
            step const& s = plan.steps()[i];
            if (s.kind != step_kind::send) continue;
            cell_range const cells = layouts_[me].of(s.local);
            for (std::size_t c = cells.begin; c < cells.end; ++c) {
                if (own.cells[c].is_undefined())
                    return refuse(me, i, "sends " + undefined_cell(s.local, c - cells.begin));
                own.sent[i].push_back(own.cells[c]);
            }
        }
        if (is_barrier()) own.told.push_back(own.known);
        ++own.begun;
        return true;
    }

    bool finish_round(rank_id me) {
        rank_state& own = ranks_[me];
        schedule const& plan = plans_[me];
        std::uint32_t const begin = plan.round_begin(own.done);
        std::uint32_t const end = plan.round_begin(own.done + 1);
        for (std::uint32_t i = begin; i < end; ++i) {
            step_kind const kind = plan.steps()[i].kind;
            if ((kind == step_kind::recv || kind == step_kind::recv_reduce) && !receive(me, i)) return false;
        }
        for (std::uint32_t i = begin; i < end; ++i)
            if (is_local(plan.steps()[i].kind) && !perform_local(me, i)) return false;
        ++own.done;
        return true;
    }

    bool receive(rank_id me, std::uint32_t index) {
        rank_state& own = ranks_[me];
        step const& s = plans_[me].steps()[index];
        message_end const there = pairs_.partner(me, index);
        if (is_barrier()) {
            std::vector<bool> const& told = ranks_[there.rank].told[there.round];
            for (rank_id p = 0; p < size_; ++p) own.known[p] = own.known[p] || told[p];
            return true;
        }
        std::vector<value> arrived = std::move(ranks_[there.rank].sent[there.step]);
        cell_range const cells = layouts_[me].of(s.local);
        for (std::size_t c = cells.begin; c < cells.end; ++c) {
            value const& message = arrived[c - cells.begin];
            if (s.kind == step_kind::recv) own.cells[c] = message;
            else if (!combine(me, index, own.cells[c], message)) return false;
        }
        return true;
    }

    bool perform_local(rank_id me, std::uint32_t index) {
        rank_state& own = ranks_[me];
        step const& s = plans_[me].steps()[index];
        if (s.kind == step_kind::fold) return fold(me, index);
        cell_range const to = layouts_[me].of(s.local);
        cell_range const from = layouts_[me].of(s.other);
        for (std::size_t i = 0; i < to.count(); ++i) {
            value const source = own.cells[from.begin + i];
            if (source.is_undefined()) return refuse(me, index, "reads " + undefined_cell(s.other, i));
            if (s.kind == step_kind::copy) own.cells[to.begin + i] = source;
            else if (!combine(me, index, own.cells[to.begin + i], source)) return false;
        }
        return true;
    }

    bool combine(rank_id me, std::uint32_t index, value& mine, value const& other) {
        step const& s = plans_[me].steps()[index];
        if (mine.is_undefined()) return refuse(me, index, "combines with a value that was never written");
        if (mine.origin != other.origin) return refuse(me, index, mixed(mine.origin, other.origin));
        bool const left = s.from == side::left;
        mine.what = left ? values_.combine(other.what, mine.what) : values_.combine(mine.what, other.what);
        return check_expression(me, index, mine);
    }

    bool fold(rank_id me, std::uint32_t index) {
        rank_state& own = ranks_[me];
        step const& s = plans_[me].steps()[index];
        cell_range const to = layouts_[me].of(s.local);
        for (std::size_t i = 0; i < to.count(); ++i) {
            value& mine = own.cells[to.begin + i];
            std::vector<std::uint32_t> operands;
            auto add = [&](value const& operand, block_range range) {
                if (operand.is_undefined()) return refuse(me, index, "reads " + undefined_cell(range, i));
                if (operand.origin != mine.origin) return refuse(me, index, mixed(mine.origin, operand.origin));
                operands.push_back(operand.what);
                return true;
            };
            for (rank_id place = 0; place <= s.other.count; ++place) {
                if (place == s.position && !add(mine, s.local)) return false;
                if (place == s.other.count) break;
                block_range const slot{s.other.first + place, 1, space::scratch};
                if (!add(own.cells[layouts_[me].of(slot).begin + i], slot)) return false;
            }
            mine.what = values_.fold(operands);
            if (!check_expression(me, index, mine)) return false;
        }
        return true;
    }

    bool check_expression(rank_id me, std::uint32_t index, value const& result) {
        std::string const block = "block " + std::to_string(result.origin);
        if (rank_id const twice = values_.doubled(result.what); twice != nobody)
            return refuse(me, index, "rank " + std::to_string(twice) + " contributes twice to " + block);
        if (said_.keeps_order && !values_.keeps_order(result.what))
            return refuse(me, index, block + " is not combined in the order of ranks");
        return true;
    }

    static std::string mixed(rank_id a, rank_id b) {
        return "combines block " + std::to_string(a) + " with block " + std::to_string(b);
    }
    static std::string undefined_cell(block_range range, std::size_t place) {
        return text_of({range.first + static_cast<rank_id>(place), 1, range.where}) + " before it holds a value";
    }

    /// "rank 0 (round 1) waits for rank 2, rank 2 (round 0) waits for …", until a rank comes again.
    std::string who_waits_for_whom() const {
        rank_id me = 0;
        while (ranks_[me].done == plans_[me].rounds()) ++me;
        std::vector<bool> seen(size_, false);
        std::string text;
        while (!seen[me]) {
            seen[me] = true;
            std::uint32_t const index = first_awaited(me, true);
            message_end const there = pairs_.partner(me, index);
            text += (text.empty() ? "" : "; ") + place_of(plans_[me], me, index) + " waits for rank " +
                    std::to_string(there.rank) + " to reach round " + std::to_string(there.round);
            me = there.rank;
        }
        return text;
    }

    // ---- results ----

    bool check_results() {
        for (rank_id me = 0; me < size_; ++me) {
            if (is_barrier()) {
                if (!check_left_last(me)) return false;
                continue;
            }
            for (rank_id b = 0; b < plans_[me].blocks(); ++b)
                if (is_demanded(me, b) && !check_result(me, b)) return false;
        }
        return true;
    }

    bool check_left_last(rank_id me) {
        for (rank_id p = 0; p < size_; ++p)
            if (!ranks_[me].known[p])
                return refuse("rank " + std::to_string(me) + " leaves before rank " + std::to_string(p) + " entered");
        return true;
    }

    bool is_demanded(rank_id me, rank_id block) const noexcept {
        switch (said_.operation) {
            case collective::reduce_scatter:
            case collective::scatter: return block == me;
            case collective::reduce:
            case collective::gather: return me == said_.root;
            case collective::exclusive_scan: return me > 0;
            default: return true;
        }
    }

    bool check_result(rank_id me, rank_id block) {
        value const& found = ranks_[me].cells[block];
        std::string const place = "rank " + std::to_string(me) + ", data[" + std::to_string(block) + "] at the end: ";
        if (found.is_undefined()) return refuse(place + "never written");
        rank_id const origin = is_all_to_all() ? me : block;
        if (found.origin != origin)
            return refuse(place + "block " + std::to_string(found.origin) + ", not " + std::to_string(origin));
        rank_run const run = demanded_ranks(me, block);
        if (!values_.is_exactly(found.what, run.first, run.end))
            return refuse(place + "contributions of ranks " + runs_text(values_.ranks(found.what)) + " instead of " +
                          runs_text({run}));
        if (said_.operation == collective::all_reduce && found.what != ranks_[0].cells[block].what)
            return refuse(place + "computed by other operations, or in another order, than on rank 0");
        return true;
    }

    rank_run demanded_ranks(rank_id me, rank_id block) const noexcept {
        switch (said_.operation) {
            case collective::all_gather:
            case collective::gather:
            case collective::all_to_all: return {block, block + 1};
            case collective::broadcast:
            case collective::scatter: return {said_.root, said_.root + 1};
            case collective::scan: return {0, me + 1};
            case collective::exclusive_scan: return {0, me};
            default: return {0, size_};
        }
    }

    static std::string runs_text(std::vector<rank_run> const& runs) {
        std::string text;
        for (rank_run run : runs) {
            text += (text.empty() ? "" : ", ") + std::to_string(run.first);
            if (run.end > run.first + 1) text += "-" + std::to_string(run.end - 1);
        }
        return text;
    }

    std::span<schedule const> plans_;
    claim said_;
    rank_id size_;
    expressions values_;
    std::vector<rank_state> ranks_;
    std::vector<cell_layout> layouts_;
    message_pairs pairs_;
    std::string why_;
};

}  // namespace chorus::detail
