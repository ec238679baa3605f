// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/schedule/algorithm.hpp"
#include "chorus/schedule/detail/expressions.hpp"
#include "chorus/schedule/detail/message_pairs.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
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

/// Performs the schedules of all ranks on expressions instead of numbers. A cell is one block of data or input, or one block that
/// a slot is as long as. Cells of one class have the same length however the vector is cut; cells of different classes differ in
/// length for some cut (for near-equal cuts already), so a message must meet the same classes at both ends.
class prover {
 public:
    prover(std::span<schedule const> plans, claim const& said)
        : plans_{plans}, said_{said}, size_{static_cast<rank_id>(plans.size())}, values_{size_}, ranks_(size_) {}

    /// The empty string, or why the claim does not hold.
    std::string run() {
        if (size_ == 0) return "there are no ranks";
        if (check_shape() && why_.empty()) why_ = pairs_.match(plans_);
        if (why_.empty() && check_lengths() && check_hazards() && perform()) check_results();
        return std::move(why_);
    }

 private:
    using expression = std::uint32_t;

    /// Block `origin` of the caller's vectors, as combined by `what`.
    struct value {
        rank_id origin = 0;
        expression what = expressions::undefined;
    };

    struct cell_range {
        std::size_t begin = 0;
        std::size_t end = 0;
        std::size_t count() const noexcept { return end - begin; }
    };

    struct rank_state {
        std::vector<std::uint64_t> classes;   // per cell
        std::vector<value> cells;
        std::vector<std::size_t> slot_begin;  // first cell of each slot; one more than slots
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

    // ---- shape: blocks, ranges, classes ----

    bool is_all_to_all() const noexcept { return said_.operation == collective::all_to_all; }

    bool check_shape() {
        if (has_root(said_.operation) && said_.root >= size_)
            return refuse("root " + std::to_string(said_.root) + " of " + std::to_string(size_) + " ranks");
        rank_id const blocks = has_block_per_rank(said_.operation) ? size_ : plans_.front().blocks();
        if (blocks == 0) return refuse("rank 0: a schedule of no blocks");
        for (rank_id me = 0; me < size_; ++me) {
            if (plans_[me].blocks() != blocks)
                return refuse("rank " + std::to_string(me) + ": cuts into " + std::to_string(plans_[me].blocks()) +
                              " blocks instead of " + std::to_string(blocks));
            if (!place_cells(me) || !check_steps(me)) return false;
            fill_in(me);
        }
        return true;
    }

    bool place_cells(rank_id me) {
        schedule const& plan = plans_[me];
        std::vector<std::uint64_t>& classes = ranks_[me].classes;
        bool const pairwise = is_all_to_all();
        auto of_pair = [&](rank_id from, rank_id to) { return said_.uneven ? std::uint64_t{from} * size_ + to : 0; };
        for (rank_id b = 0; b < plan.blocks(); ++b) classes.push_back(pairwise ? of_pair(b, me) : b);
        for (rank_id b = 0; pairwise && b < plan.blocks(); ++b) classes.push_back(of_pair(me, b));
        std::size_t const caller_cells = classes.size();
        std::vector<std::size_t>& begins = ranks_[me].slot_begin;
        begins.push_back(caller_cells);
        for (block_range like : plan.slots()) {
            if (like.where == space::scratch || !is_inside(me, like))
                return refuse("rank " + std::to_string(me) + ": a slot as long as blocks that do not exist");
            cell_range const cells = cells_of(me, like);
            for (std::size_t c = cells.begin; c < cells.end; ++c) classes.push_back(classes[c]);
            begins.push_back(classes.size());
        }
        return true;
    }

    bool is_inside(rank_id me, block_range range) const {
        std::size_t const limit = range.where == space::data      ? plans_[me].blocks()
                                  : range.where == space::scratch ? plans_[me].slots().size()
                                  : is_all_to_all()               ? plans_[me].blocks()
                                                                  : 0;
        return std::size_t{range.first} + range.count <= limit;
    }

    cell_range cells_of(rank_id me, block_range range) const {
        std::vector<std::size_t> const& begins = ranks_[me].slot_begin;
        if (range.where == space::scratch) return {begins[range.first], begins[range.end()]};
        std::size_t const offset = range.where == space::input ? plans_[me].blocks() : 0;
        return {offset + range.first, offset + range.end()};
    }

    bool check_steps(rank_id me) {
        auto const& steps = plans_[me].steps();
        for (std::uint32_t i = 0; i < steps.size(); ++i) {
            step const& s = steps[i];
            if (!is_inside(me, s.local) || (is_local(s.kind) && !is_inside(me, s.other)))
                return refuse(me, i, "a block range out of bounds");
            if (s.kind != step_kind::send && s.local.where == space::input) return refuse(me, i, "writes to the input");
            if (!is_local(s.kind) && s.peer >= size_)
                return refuse(me, i, "there are only " + std::to_string(size_) + " ranks");
            if (is_local(s.kind) && !check_operands(me, i)) return false;
        }
        return true;
    }

    bool check_operands(rank_id me, std::uint32_t index) {
        step const& s = plans_[me].steps()[index];
        if (s.kind != step_kind::fold)
            return same_classes(me, cells_of(me, s.local), me, cells_of(me, s.other)) ||
                   refuse(me, index, "the two block ranges differ in length");
        if (s.other.where != space::scratch || s.position > s.other.count)
            return refuse(me, index, "folds something else than slots, or at a place behind them");
        for (rank_id slot = s.other.first; slot < s.other.end(); ++slot)
            if (!same_classes(me, cells_of(me, s.local), me, cells_of(me, {slot, 1, space::scratch})))
                return refuse(me, index, "slot " + std::to_string(slot) + " differs from what it is folded into");
        return true;
    }

    bool same_classes(rank_id a, cell_range of_a, rank_id b, cell_range of_b) const {
        if (of_a.count() != of_b.count()) return false;
        for (std::size_t i = 0; i < of_a.count(); ++i)
            if (ranks_[a].classes[of_a.begin + i] != ranks_[b].classes[of_b.begin + i]) return false;
        return true;
    }

    /// What data and input hold before the first round.
    void fill_in(rank_id me) {
        rank_state& own = ranks_[me];
        own.cells.assign(own.classes.size(), value{});
        own.sent.resize(plans_[me].steps().size());
        own.known.assign(said_.operation == collective::barrier ? size_ : 0, false);
        if (!own.known.empty()) own.known[me] = true;
        for (rank_id b = 0; b < plans_[me].blocks(); ++b) {
            bool given = has_reduction(said_.operation) || said_.operation == collective::barrier;
            if (said_.operation == collective::broadcast || said_.operation == collective::scatter)
                given = me == said_.root;
            if (said_.operation == collective::all_gather || said_.operation == collective::gather) given = me == b;
            std::size_t const cell = is_all_to_all() ? plans_[me].blocks() + b : b;
            if (given || is_all_to_all()) own.cells[cell] = {b, expressions::of_rank(me)};
        }
    }

    bool check_lengths() {
        for (rank_id me = 0; me < size_; ++me)
            for (std::uint32_t i = 0; i < plans_[me].steps().size(); ++i) {
                step const& s = plans_[me].steps()[i];
                if (s.kind != step_kind::send) continue;
                message_end const there = pairs_.partner(me, i);
                block_range const to = plans_[there.rank].steps()[there.step].local;
                if (!same_classes(me, cells_of(me, s.local), there.rank, cells_of(there.rank, to)))
                    return refuse(me, i, "differs in length from what takes it, " +
                                             place_of(plans_[there.rank], there.rank, there.step));
            }
        return true;
    }

    // ---- hazards: rounds under way at once must not touch one another's blocks ----

    /// When a cell was last used, as round + 1; 0: never.
    struct last_use {
        std::uint32_t sent = 0;
        std::uint32_t received = 0;
        std::uint32_t reduced = 0;
        std::uint32_t read = 0;
        std::uint32_t written = 0;
    };

    bool check_hazards() {
        for (rank_id me = 0; me < size_; ++me) {
            std::vector<last_use> uses(ranks_[me].classes.size());
            for (std::uint32_t r = 0; r < plans_[me].rounds(); ++r)
                if (!check_round(me, r, uses)) return false;
        }
        return true;
    }

    bool check_round(rank_id me, std::uint32_t r, std::vector<last_use>& uses) {
        schedule const& plan = plans_[me];
        std::uint32_t const now = r + 1;
        auto under_way = [&](std::uint32_t round) { return round != 0 && round != now && round + plan.in_flight() > now; };
        auto touch = [&](step_kind first, step_kind last, auto const& visit) {
            for (std::uint32_t i = plan.round_begin(r); i < plan.round_begin(r + 1); ++i) {
                step const& s = plan.steps()[i];
                if (s.kind >= first && s.kind <= last && !visit(i, s)) return false;
            }
            return true;
        };
        auto each = [&](block_range range, auto const& visit) {
            cell_range const cells = cells_of(me, range);
            for (std::size_t c = cells.begin; c < cells.end; ++c)
                if (!visit(uses[c])) return false;
            return true;
        };
        auto send = [&](std::uint32_t i, step const& s) {
            return each(s.local, [&](last_use& use) {
                if (under_way(use.received) || under_way(use.reduced) || under_way(use.written))
                    return refuse(me, i, "hazard: sends a block that a round still under way writes");
                return true;
            });
        };
        auto note_send = [&](std::uint32_t, step const& s) {
            return each(s.local, [&](last_use& use) { use.sent = now; return true; });
        };
        auto receive = [&](std::uint32_t i, step const& s) {
            return each(s.local, [&](last_use& use) {
                if (under_way(use.sent)) return refuse(me, i, "hazard: writes a block that a send of a round still under way reads");
                if (under_way(use.received) || under_way(use.reduced) || under_way(use.written) || under_way(use.read))
                    return refuse(me, i, "hazard: writes a block that a round still under way uses");
                bool const reduces = s.kind == step_kind::recv_reduce;
                if (use.received == now || (!reduces && use.reduced == now))
                    return refuse(me, i, "hazard: a second message of the round for a block that one overwrites");
                (reduces ? use.reduced : use.received) = now;
                return true;
            });
        };
        auto local = [&](std::uint32_t i, step const& s) {
            each(s.other, [&](last_use& use) { use.read = now; return true; });
            return each(s.local, [&](last_use& use) {
                if (under_way(use.sent)) return refuse(me, i, "hazard: writes a block that a send of a round still under way reads");
                use.written = now;
                return true;
            });
        };
        return touch(step_kind::send, step_kind::send, send) &&
               touch(step_kind::recv, step_kind::recv_reduce, receive) &&
               touch(step_kind::copy, step_kind::fold, local) && touch(step_kind::send, step_kind::send, note_send);
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

    /// Until nothing moves; a send completes when its receive is posted (`rendezvous`) or at once. True if all ranks ended.
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

    /// The first step of the earliest round under way whose other end is not posted; the end of the round if there is none.
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
            cell_range const cells = cells_of(me, s.local);
            for (std::size_t c = cells.begin; c < cells.end; ++c) {
                if (own.cells[c].what == expressions::undefined) return refuse(me, i, "sends " + undefined_cell(s.local, c - cells.begin));
                own.sent[i].push_back(own.cells[c]);
            }
        }
        if (said_.operation == collective::barrier) own.told.push_back(own.known);
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
        if (said_.operation == collective::barrier) {
            std::vector<bool> const& told = ranks_[there.rank].told[there.round];
            for (rank_id p = 0; p < size_; ++p) own.known[p] = own.known[p] || told[p];
            return true;
        }
        std::vector<value> arrived = std::move(ranks_[there.rank].sent[there.step]);
        cell_range const cells = cells_of(me, s.local);
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
        cell_range const to = cells_of(me, s.local);
        cell_range const from = cells_of(me, s.other);
        for (std::size_t i = 0; i < to.count(); ++i) {
            value const source = own.cells[from.begin + i];
            if (source.what == expressions::undefined) return refuse(me, index, "reads " + undefined_cell(s.other, i));
            if (s.kind == step_kind::copy) own.cells[to.begin + i] = source;
            else if (!combine(me, index, own.cells[to.begin + i], source)) return false;
        }
        return true;
    }

    bool combine(rank_id me, std::uint32_t index, value& mine, value const& other) {
        step const& s = plans_[me].steps()[index];
        if (mine.what == expressions::undefined) return refuse(me, index, "combines with a value that was never written");
        if (mine.origin != other.origin) return refuse(me, index, mixed(mine.origin, other.origin));
        bool const left = s.from == side::left;
        mine.what = left ? values_.combine(other.what, mine.what) : values_.combine(mine.what, other.what);
        return check_expression(me, index, mine);
    }

    bool fold(rank_id me, std::uint32_t index) {
        rank_state& own = ranks_[me];
        step const& s = plans_[me].steps()[index];
        cell_range const to = cells_of(me, s.local);
        for (std::size_t i = 0; i < to.count(); ++i) {
            value& mine = own.cells[to.begin + i];
            std::vector<expression> operands;
            auto add = [&](value const& operand, block_range range) {
                if (operand.what == expressions::undefined) return refuse(me, index, "reads " + undefined_cell(range, i));
                if (operand.origin != mine.origin) return refuse(me, index, mixed(mine.origin, operand.origin));
                operands.push_back(operand.what);
                return true;
            };
            for (rank_id place = 0; place <= s.other.count; ++place) {
                if (place == s.position && !add(mine, s.local)) return false;
                if (place == s.other.count) break;
                block_range const slot{s.other.first + place, 1, space::scratch};
                if (!add(own.cells[cells_of(me, slot).begin + i], slot)) return false;
            }
            mine.what = values_.fold(operands);
            if (!check_expression(me, index, mine)) return false;
        }
        return true;
    }

    bool check_expression(rank_id me, std::uint32_t index, value const& result) {
        if (rank_id const twice = values_.doubled(result.what); twice != nobody)
            return refuse(me, index, "rank " + std::to_string(twice) + " contributes twice to block " + std::to_string(result.origin));
        if (said_.keeps_order && !values_.keeps_order(result.what))
            return refuse(me, index, "block " + std::to_string(result.origin) + " is not combined in the order of ranks");
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
            text += (text.empty() ? "" : "; ") + place_of(plans_[me], me, index) + " waits for rank " + std::to_string(there.rank) +
                    " to reach round " + std::to_string(there.round);
            me = there.rank;
        }
        return text;
    }

    // ---- results ----

    bool check_results() {
        for (rank_id me = 0; me < size_; ++me) {
            if (said_.operation == collective::barrier) {
                for (rank_id p = 0; p < size_; ++p)
                    if (!ranks_[me].known[p])
                        return refuse("rank " + std::to_string(me) + " leaves before rank " + std::to_string(p) + " entered");
                continue;
            }
            for (rank_id b = 0; b < plans_[me].blocks(); ++b)
                if (is_demanded(me, b) && !check_result(me, b)) return false;
        }
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
        if (found.what == expressions::undefined) return refuse(place + "never written");
        rank_id const origin = is_all_to_all() ? me : block;
        if (found.origin != origin)
            return refuse(place + "block " + std::to_string(found.origin) + " instead of block " + std::to_string(origin));
        rank_run const run = demanded_ranks(me, block);
        if (!values_.is_exactly(found.what, run.first, run.end))
            return refuse(place + "contributions of ranks " + text_of(values_.ranks(found.what)) + " instead of " +
                          text_of(std::vector<rank_run>{run}));
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

    static std::string text_of(std::vector<rank_run> const& runs) {
        std::string text;
        for (rank_run run : runs) {
            text += (text.empty() ? "" : ", ") + std::to_string(run.first);
            if (run.end > run.first + 1) text += "-" + std::to_string(run.end - 1);
        }
        return text;
    }
    static std::string text_of(block_range range) { return detail::text_of(range); }

    std::span<schedule const> plans_;
    claim said_;
    rank_id size_;
    expressions values_;
    std::vector<rank_state> ranks_;
    message_pairs pairs_;
    std::string why_;
};

}  // namespace detail
}  // namespace chorus
