// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/base/error.hpp"
#include "chorus/collective/detail/operation.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace chorus::detail {

/// A step with addresses.
struct bound_step {
    step_kind kind = step_kind::send;
    bool from_left = false;
    bool waits_for_sends = false;      ///< lands where a send of the same round may still read
    bool waits_for_round = false;      ///< must be combined after an earlier receive of the same round
    rank_id peer = nobody;
    rank_id position = 0;              ///< fold: place of `mine`
    std::byte* out = nullptr;          ///< what is written; null for sends
    std::byte const* mine = nullptr;   ///< sends: what is read; reductions: the own operand
    std::byte const* other = nullptr;  ///< copy, reduce, fold: the other operand(s)
    std::uint64_t bytes = 0;
    std::uint64_t count = 0;           ///< elements
    std::uint64_t bounce = 0;          ///< offset of a landing place for those that cannot land at once
    std::uint32_t inputs = 0;          ///< fold: how many other operands
};

struct bound_copy {
    std::byte* to = nullptr;
    std::byte const* from = nullptr;
    std::uint64_t bytes = 0;
};

struct bound_conversion {
    reducer::convert_function convert = nullptr;
    std::byte* to = nullptr;
    std::byte const* from = nullptr;
    std::uint64_t count = 0;
};

/// A schedule bound to memory: everything `start` and `advance` need, so that they allocate nothing.
struct bound_program {
    std::vector<bound_step> steps;
    std::vector<std::uint32_t> round_begin;   ///< one more than rounds
    std::uint32_t in_flight = 1;
    bound_copy move_in{};                     ///< first of all: the input to where it is worked on
    bound_conversion prepare;                 ///< at start
    std::vector<bound_copy> at_start;
    std::vector<bound_copy> at_end;
    bound_conversion finish;                  ///< at the end
    std::uint64_t bytes_sent = 0;
    std::uint64_t bounce_bytes = 0;           ///< of one round

    std::uint32_t rounds() const noexcept { return static_cast<std::uint32_t>(round_begin.size()) - 1; }
};

/// Turns an operation into a bound program; scratch comes from `memory`, which grows if it must.
class binder {
 public:
    binder(operation const& asked, byte_buffer& memory, bool reduces_on_arrival)
        : asked_{asked}, memory_{memory}, reduces_on_arrival_{reduces_on_arrival}, program_{asked.program},
          input_{asked.input}, output_{asked.output} {
        converts_ = asked.reduction && asked.reduction->prepare != nullptr && asked.ranks > 1;
        element_ = converts_ ? asked.reduction->carrier_bytes : asked.element_bytes;
    }

    bound_program bind() {
        expect_size_fits();
        plan_memory();
        memory_.grow(scratch_end_ + bounce_total());
        if (converts_) bind_conversions();
        place_blocks();
        bind_steps();
        bind_result();
        out_.bounce_bytes = bounce_of_round_;
        return std::move(out_);
    }

    /// Where the landing places begin in the scratch memory.
    std::uint64_t bounce_begin() const noexcept { return scratch_end_; }

 private:
    struct round_steps {
        std::uint32_t begin;
        std::uint32_t end;
    };

    static constexpr std::uint64_t line = byte_buffer::alignment;
    static constexpr std::uint64_t rounded_up(std::uint64_t bytes) noexcept { return (bytes + line - 1) / line * line; }

    void expect_size_fits() const {
        std::uint64_t const limit = (std::numeric_limits<std::ptrdiff_t>::max)() / 4;
        if (asked_.cut.count() > limit / element_ || asked_.input_cut.count() > limit / element_)
            raise(errc::too_large, std::to_string(asked_.cut.count()) + " elements of " + std::to_string(element_) +
                                       " bytes do not fit in memory");
    }

    std::uint64_t bytes_of(block_range range) const noexcept {
        if (range.where == space::input) return asked_.input_cut.length(range.first, range.count) * element_;
        if (range.where == space::data) return asked_.cut.length(range.first, range.count) * element_;
        std::uint64_t bytes = 0;
        for (rank_id s = range.first; s < range.end(); ++s) bytes += bytes_of(program_.slots()[s]);
        return bytes;
    }

    // ---- memory ----

    /// Blocks of data live in `output` where that is possible, and in scratch otherwise; slots live in scratch.
    void plan_memory() {
        rank_id const blocks = asked_.cut.parts();
        std::vector<bool> touched(blocks, false);
        bool split_ranges = false;
        for (step const& s : program_.steps()) {
            note_range(s.local, touched, split_ranges);
            if (s.kind >= step_kind::copy) note_range(s.other, touched, split_ranges);
        }
        bool const whole = output_.count == blocks;
        bool const staged = converts_ && (element_ != asked_.element_bytes || !whole);
        uses_output_ = !staged && output_.count > 0 && (whole || !split_ranges);
        place_.assign(blocks, nothing);
        for (rank_id b = 0; b < blocks; ++b) {
            if (uses_output_ && output_.contains(b)) continue;
            if (!touched[b] && !staged) continue;
            place_[b] = scratch_end_;
            scratch_end_ += asked_.cut.length(b) * element_;
        }
        scratch_end_ = rounded_up(scratch_end_);
        for (block_range like : program_.slots()) {
            slot_place_.push_back(scratch_end_);
            scratch_end_ += bytes_of(like);
        }
        scratch_end_ = rounded_up(scratch_end_);
        bounce_of_round_ = longest_bounce();
    }

    void note_range(block_range range, std::vector<bool>& touched, bool& split_ranges) const {
        if (range.where != space::data) return;
        for (rank_id b = range.first; b < range.end(); ++b) touched[b] = true;
        bool const meets_output = range.first < output_.first + output_.count && output_.first < range.end();
        if (meets_output && !output_.contains(range)) split_ranges = true;
    }

    /// Landing places are reserved for the receives that may have to land aside; whether they do is known when sends complete.
    std::uint64_t longest_bounce() {
        lands_aside_.assign(program_.steps().size(), false);
        std::uint64_t longest = 0;
        for_each_round([&](std::uint32_t begin, std::uint32_t end) {
            std::uint64_t round = 0;
            for (std::uint32_t i = begin; i < end; ++i) {
                lands_aside_[i] = may_land_aside(i, {begin, end});
                if (lands_aside_[i]) round += rounded_up(bytes_of(program_.steps()[i].local));
            }
            longest = (std::max)(longest, round);
        });
        return longest;
    }

    bool may_land_aside(std::uint32_t i, round_steps round) const noexcept {
        step const& s = program_.steps()[i];
        if (s.kind == step_kind::recv_reduce && !reduces_on_arrival_) return true;
        if (s.kind != step_kind::recv && s.kind != step_kind::recv_reduce) return false;
        for (std::uint32_t j = round.begin; j < round.end; ++j) {
            step const& other = program_.steps()[j];
            bool const earlier = j < i && (other.kind == step_kind::recv || other.kind == step_kind::recv_reduce);
            if ((other.kind == step_kind::send || earlier) && other.local.overlaps(s.local)) return true;
        }
        return false;
    }
    std::uint64_t bounce_total() const noexcept { return bounce_of_round_ * program_.in_flight(); }

    std::byte* data_block(rank_id b) const noexcept {
        if (place_[b] != nothing) return memory_.data() + place_[b];
        return output_.base + (asked_.cut.begin(b) - asked_.cut.begin(output_.first)) * element_;
    }
    std::byte const* input_block(rank_id b) const noexcept {
        return input_.base + (asked_.cut.begin(b) - asked_.cut.begin(input_.first)) * element_;
    }

    std::byte* written(block_range range) const noexcept {
        if (range.where == space::scratch) return memory_.data() + slot_place_[range.first];
        return data_block(range.first);
    }

    /// Where the present value of the range is: blocks not written yet are still in the caller's input.
    std::byte const* current(block_range range) const noexcept {
        if (range.where == space::input) return input_space() + asked_.input_cut.begin(range.first) * element_;
        if (range.where == space::scratch) return memory_.data() + slot_place_[range.first];
        return in_data_[range.first] || !input_.contains(range.first) ? data_block(range.first) : input_block(range.first);
    }
    std::byte const* input_space() const noexcept { return asked_.input.base; }

    // ---- conversion (mean) ----

    void bind_conversions() {
        std::uint64_t const count = asked_.cut.count();
        std::byte* const work = uses_output_ ? output_.base : memory_.data() + place_.front();
        out_.prepare = {asked_.reduction->prepare, work, input_.base, count};
        std::uint64_t const skipped = asked_.cut.begin(asked_.result.first);
        std::uint64_t const kept = asked_.cut.length(asked_.result.first, asked_.result.count);
        if (asked_.result.count > 0) {
            std::uint64_t const base = asked_.cut.begin(output_.first);
            out_.finish = {asked_.reduction->finish, output_.base + (skipped - base) * asked_.element_bytes,
                           work + skipped * element_, kept};
        }
        input_ = {work, 0, asked_.cut.parts()};
    }

    // ---- steps ----

    /// Blocks whose input is where they will be written need no redirection. If a step meets a range that is partly written, the unwritten
    /// rest is copied at the start.
    void place_blocks() {
        rank_id const blocks = asked_.cut.parts();
        early_.assign(blocks, false);
        for (;;) {
            in_data_.assign(blocks, false);
            for (rank_id b = 0; b < blocks; ++b) {
                bool const here = input_.contains(b) && is_placed(b) && data_block(b) == input_block(b);
                in_data_[b] = here || early_[b];
            }
            if (!find_mixed_range()) break;
        }
        in_data_.assign(blocks, false);
        for (rank_id b = 0; b < blocks; ++b) {
            bool const here = input_.contains(b) && is_placed(b) && data_block(b) == input_block(b);
            in_data_[b] = here || early_[b];
            if (early_[b] && !here) add_copy(out_.at_start, data_block(b), input_block(b), asked_.cut.length(b) * element_);
        }
    }
    bool is_placed(rank_id b) const noexcept { return place_[b] != nothing || (uses_output_ && output_.contains(b)); }

    bool find_mixed_range() {
        auto state = in_data_;
        bool found = false;
        auto look = [&](block_range range) {
            if (range.where != space::data || range.count < 2) return;
            bool any_in = false;
            bool any_out = false;
            for (rank_id b = range.first; b < range.end(); ++b)
                (state[b] || !input_.contains(b) ? any_in : any_out) = true;
            if (!any_in || !any_out) return;
            for (rank_id b = range.first; b < range.end(); ++b)
                if (!state[b] && input_.contains(b)) early_[b] = found = true;
        };
        auto write = [&](block_range range) {
            if (range.where == space::data)
                for (rank_id b = range.first; b < range.end(); ++b) state[b] = true;
        };
        for_each_round([&](std::uint32_t begin, std::uint32_t end) {
            for (std::uint32_t i = begin; i < end; ++i) {
                step const& s = program_.steps()[i];
                if (s.kind == step_kind::send || s.kind == step_kind::recv_reduce) look(s.local);
            }
            for (std::uint32_t i = begin; i < end; ++i) {
                step const& s = program_.steps()[i];
                if (s.kind == step_kind::recv || s.kind == step_kind::recv_reduce) write(s.local);
            }
            for (std::uint32_t i = begin; i < end; ++i) {
                step const& s = program_.steps()[i];
                if (!is_local(s.kind)) continue;
                look(s.other);
                if (s.kind != step_kind::copy) look(s.local);
                write(s.local);
            }
        });
        return found;
    }

    template <class Visit>
    void for_each_round(Visit&& visit) const {
        for (std::uint32_t r = 0; r < program_.rounds(); ++r) visit(program_.round_begin(r), program_.round_begin(r + 1));
    }

    void bind_steps() {
        out_.in_flight = program_.in_flight();
        out_.steps.resize(program_.steps().size());
        for_each_round([&](std::uint32_t begin, std::uint32_t end) {
            out_.round_begin.push_back(begin);
            for (std::uint32_t i = begin; i < end; ++i)
                if (program_.steps()[i].kind == step_kind::send) bind_send(i);
            std::uint64_t bounce = 0;
            for (std::uint32_t i = begin; i < end; ++i) {
                step_kind const kind = program_.steps()[i].kind;
                if (kind == step_kind::recv || kind == step_kind::recv_reduce) bind_receive(i, {begin, end}, bounce);
            }
            for (std::uint32_t i = begin; i < end; ++i)
                if (is_local(program_.steps()[i].kind)) bind_local(i);
        });
        out_.round_begin.push_back(static_cast<std::uint32_t>(out_.steps.size()));
    }

    bound_step& begin_step(std::uint32_t i) {
        step const& s = program_.steps()[i];
        bound_step& b = out_.steps[i];
        b.kind = s.kind;
        b.from_left = s.from == side::left;
        b.peer = s.peer;
        b.position = s.position;
        b.bytes = bytes_of(s.local);
        b.count = b.bytes / element_;
        return b;
    }

    void bind_send(std::uint32_t i) {
        bound_step& b = begin_step(i);
        b.mine = current(program_.steps()[i].local);
        out_.bytes_sent += b.bytes;
    }

    void bind_receive(std::uint32_t i, round_steps round, std::uint64_t& bounce) {
        block_range const local = program_.steps()[i].local;
        bound_step& b = begin_step(i);
        b.mine = current(local);
        b.out = written(local);
        if (!lands_aside_[i]) return mark(local);
        b.bounce = bounce;
        bounce += rounded_up(b.bytes);
        auto overlaps = [&](std::byte const* at, std::uint64_t bytes) { return at < b.out + b.bytes && b.out < at + bytes; };
        for (std::uint32_t j = round.begin; j < round.end; ++j) {
            step_kind const kind = program_.steps()[j].kind;
            if (kind == step_kind::send && overlaps(out_.steps[j].mine, out_.steps[j].bytes)) b.waits_for_sends = true;
            bool const earlier = j < i && (kind == step_kind::recv || kind == step_kind::recv_reduce);
            if (earlier && overlaps(out_.steps[j].out, out_.steps[j].bytes)) {
                b.waits_for_round = true;
                b.mine = b.out;
            }
        }
        if (b.kind == step_kind::recv_reduce && !reduces_on_arrival_) b.waits_for_round = true;
        mark(local);
    }
    void bind_local(std::uint32_t i) {
        step const& s = program_.steps()[i];
        bound_step& b = begin_step(i);
        b.out = written(s.local);
        b.other = current(s.other);
        b.mine = s.kind == step_kind::copy ? nullptr : current(s.local);
        b.inputs = s.other.count;
        mark(s.local);
    }

    void mark(block_range range) {
        if (range.where != space::data) return;
        for (rank_id b = range.first; b < range.end(); ++b) in_data_[b] = true;
    }

    // ---- result ----

    void bind_result() {
        if (out_.finish.convert != nullptr) return;
        for (rank_id b = asked_.result.first; b < asked_.result.end(); ++b) {
            std::byte* const wanted =
                output_.base + (asked_.cut.begin(b) - asked_.cut.begin(output_.first)) * element_;
            bool const written_once = in_data_[b];
            std::uint64_t const bytes = asked_.cut.length(b) * element_;
            if (written_once && is_placed(b)) add_copy(out_.at_end, wanted, data_block(b), bytes);
            else if (input_.contains(b)) add_copy(out_.at_start, wanted, input_block(b), bytes);
        }
    }

    static void add_copy(std::vector<bound_copy>& list, std::byte* to, std::byte const* from, std::uint64_t bytes) {
        if (to == from || bytes == 0) return;
        if (!list.empty() && list.back().to + list.back().bytes == to && list.back().from + list.back().bytes == from)
            list.back().bytes += bytes;
        else
            list.push_back({to, from, bytes});
    }

    static constexpr std::uint64_t nothing = (std::numeric_limits<std::uint64_t>::max)();

    operation const& asked_;
    byte_buffer& memory_;
    bool reduces_on_arrival_;
    schedule const& program_;
    memory_of_blocks<std::byte const> input_;
    memory_of_blocks<std::byte> output_;
    bool converts_ = false;                   // values travel in another form than the caller's (mean)
    std::uint64_t element_ = 1;               // bytes of what travels
    bool uses_output_ = false;
    std::vector<std::uint64_t> place_;        // block -> offset in scratch, or nothing
    std::vector<std::uint64_t> slot_place_;
    std::uint64_t scratch_end_ = 0;
    std::uint64_t bounce_of_round_ = 0;
    std::vector<bool> lands_aside_;           // step -> a landing place is reserved for it
    std::vector<bool> in_data_;               // block -> its value is where it is written, no longer in the input
    std::vector<bool> early_;                 // block -> copied from the input at the start
    bound_program out_;
};

}  // namespace chorus::detail
