// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/collective/detail/binding.hpp"
#include "chorus/collective/detail/block_codec.hpp"
#include "chorus/collective/detail/operation.hpp"
#include "chorus/schedule/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace chorus::detail {

/// Makes the messages of a bound program of float into messages of a codec, block by block, whatever the algorithm:
///
/// - A block is encoded when it is sent, unless this rank still has its message: one that it sent or received since the block last changed. So what is
///   handed on is handed on untouched, and all ranks decode the same bytes.
/// - A rank that goes on computing with a block it has sent, or has it in its result, goes on with what the message says, as its receivers do.
///   So all ranks end with the same bits.
/// - What arrives is decoded into the block, or added to it.
///
/// All of it is known beforehand: which block is encoded at which step, and which of them is decoded back. Messages of blocks lie in one array, in the
/// order of blocks, so that a range of blocks is one message; what cannot lie there, because the array's is still needed, has a place of its own.
/// Memory: as long as all blocks' messages twice at most in a ring or by halving, plus one per slot.
class coded_program {
 public:
    /// `program` was bound in place: every block of data is where it is written. Its message steps get other bytes and places.
    coded_program(operation const& asked, bound_program& program, rank_id me) : codec_{*asked.codec}, asked_{asked}, program_{program} {
        find_encodings();
        find_what_is_used_after();
        place_messages();
        bind_messages();
        codec_.expect_blocks((std::max)(asked.cut.parts(), asked.input_cut.parts()), me);
    }
    coded_program(coded_program const&) = delete;
    coded_program& operator=(coded_program const&) = delete;

    std::span<std::byte> memory() noexcept { return memory_.span(); }

    /// Before step i is sent.
    void prepare(std::uint32_t i) {
        for (piece const& p : of_step(i)) {
            if (!p.is_encoded) continue;
            codec_.encode(p.block, {p.value, p.count}, p.message);
            if (p.is_used_after) codec_.decode(p.message, {p.value, p.count});
        }
    }

    /// After step i has arrived.
    void take(std::uint32_t i) {
        bound_step const& s = program_.steps[i];
        for (piece const& p : of_step(i)) {
            if (s.kind == step_kind::recv_reduce) {
                if (p.value != p.operand && p.count > 0) std::memcpy(p.value, p.operand, p.count * sizeof(float));
                codec_.decode_add(p.message, {p.value, p.count});
            } else {
                codec_.decode(p.message, {p.value, p.count});
                if (p.kept_at != nullptr) std::memcpy(p.kept_at, p.message, codec_.message_bytes(p.count));
            }
        }
    }

 private:
    /// One block of one message.
    struct piece {
        std::size_t block = 0;             // for the codec
        float* value = nullptr;
        float const* operand = nullptr;    // recv_reduce: the own one
        std::size_t count = 0;             // elements
        std::byte* message = nullptr;
        std::byte* kept_at = nullptr;      // recv: where it is to be handed on from, if it could not land there
        bool is_encoded = false;
        bool is_used_after = false;
    };

    std::span<piece const> of_step(std::uint32_t i) const noexcept {
        return std::span{pieces_}.subspan(first_[i], first_[i + 1] - first_[i]);
    }

    std::vector<step> const& steps() const noexcept { return asked_.program.steps(); }
    static bool is_message(step const& s) noexcept { return !is_local(s.kind); }
    static bool is_of_data(step const& s) noexcept { return s.local.where == space::data; }

    /// Each step of round r in turn: sends, then receives, then local ones.
    template <class Visit>
    void for_round(std::uint32_t r, Visit const& visit) const {
        std::uint32_t const begin = asked_.program.round_begin(r);
        std::uint32_t const end = asked_.program.round_begin(r + 1);
        for (std::uint32_t i = begin; i < end; ++i)
            if (steps()[i].kind == step_kind::send) visit(i);
        for (std::uint32_t i = begin; i < end; ++i)
            if (is_message(steps()[i]) && steps()[i].kind != step_kind::send) visit(i);
        for (std::uint32_t i = begin; i < end; ++i)
            if (is_local(steps()[i].kind)) visit(i);
    }
    template <class Visit>
    void backwards_for_round(std::uint32_t r, Visit const& visit) const {
        std::vector<std::uint32_t> order;
        for_round(r, [&](std::uint32_t i) { order.push_back(i); });
        for (auto i = order.rbegin(); i != order.rend(); ++i) visit(*i);
    }
    template <class Visit>
    static void for_blocks(block_range range, Visit const& visit) {
        if (range.where == space::data)
            for (rank_id b = range.first; b < range.end(); ++b) visit(b);
    }

    /// Which send finds no message of which block.
    void find_encodings() {
        encodes_.resize(steps().size());
        std::vector<bool> has_message(asked_.cut.parts(), false);
        for (std::uint32_t r = 0; r < asked_.program.rounds(); ++r)
            for_round(r, [&](std::uint32_t i) {
                step const& s = steps()[i];
                if (s.kind == step_kind::send) encodes_[i].assign(s.local.count, !is_of_data(s));
                for_blocks(s.local, [&](rank_id b) {
                    if (s.kind == step_kind::send) encodes_[i][b - s.local.first] = !has_message[b];
                    has_message[b] = s.kind == step_kind::send || s.kind == step_kind::recv;
                });
            });
    }

    /// Of the blocks that are encoded: whether this rank reads them again before they are overwritten.
    void find_what_is_used_after() {
        is_used_.resize(steps().size());
        std::vector<bool> used(asked_.cut.parts(), false);
        for_blocks(asked_.result, [&](rank_id b) { used[b] = true; });
        for (std::uint32_t r = asked_.program.rounds(); r-- > 0;)
            backwards_for_round(r, [&](std::uint32_t i) {
                step const& s = steps()[i];
                if (s.kind == step_kind::send) is_used_[i].assign(s.local.count, false);
                for_blocks(s.local, [&](rank_id b) {
                    rank_id const at = b - s.local.first;
                    if (s.kind == step_kind::send) {
                        is_used_[i][at] = used[b];
                        used[b] = used[b] || encodes_[i][at];
                    } else {
                        used[b] = s.kind != step_kind::recv && s.kind != step_kind::copy;
                    }
                });
                if (is_local(s.kind)) for_blocks(s.other, [&](rank_id b) { used[b] = true; });
            });
    }

    // ---- memory ----

    std::uint64_t message_bytes(std::uint64_t count) const { return codec_.message_bytes(static_cast<std::size_t>(count)); }

    /// Blocks of data that a range of any space is made of, with the lengths of their cut.
    template <class Visit>
    void for_lengths(block_range range, Visit const& visit) const {
        if (range.where == space::scratch) {
            for (rank_id s = range.first; s < range.end(); ++s) for_lengths(asked_.program.slots()[s], visit);
            return;
        }
        blocks const& cut = range.where == space::data ? asked_.cut : asked_.input_cut;
        for (rank_id b = range.first; b < range.end(); ++b) visit(b, cut.length(b));
    }

    /// Whether the message can be sent from, or land in, the array of the blocks' messages.
    bool lies_in_array(std::uint32_t i) const {
        step const& s = steps()[i];
        if (!is_of_data(s)) return false;
        if (s.kind == step_kind::send) return true;
        if (s.kind != step_kind::recv) return false;
        std::uint32_t r = 0;
        while (asked_.program.round_begin(r + 1) <= i) ++r;
        bool is_free = true;
        for_round(r, [&](std::uint32_t other) {
            bool const is_earlier_receive = steps()[other].kind == step_kind::recv && other < i;
            if (other != i && (steps()[other].kind == step_kind::send || is_earlier_receive) && steps()[other].local.overlaps(s.local)) is_free = false;
        });
        return is_free;
    }

    void place_messages() {
        std::uint64_t end = 0;
        for (rank_id b = 0; b < asked_.cut.parts(); ++b) {
            place_of_block_.push_back(end);
            end += message_bytes(asked_.cut.length(b));
        }
        place_of_step_.assign(steps().size(), 0);
        for (std::uint32_t i = 0; i < steps().size(); ++i) {
            if (!is_message(steps()[i])) continue;
            if (lies_in_array(i)) {
                place_of_step_[i] = place_of_block_[steps()[i].local.first];
                continue;
            }
            place_of_step_[i] = end;
            for_lengths(steps()[i].local, [&](rank_id, std::uint64_t count) { end += message_bytes(count); });
        }
        memory_.grow(end);
    }

    void bind_messages() {
        program_.bytes_sent = 0;
        for (std::uint32_t i = 0; i < steps().size(); ++i) {
            first_.push_back(static_cast<std::uint32_t>(pieces_.size()));
            if (is_message(steps()[i])) bind_message(i);
        }
        first_.push_back(static_cast<std::uint32_t>(pieces_.size()));
    }

    void bind_message(std::uint32_t i) {
        step const& s = steps()[i];
        bool const is_kept = s.kind == step_kind::recv && is_of_data(s) && place_of_step_[i] != place_of_block_[s.local.first];
        bound_step& bound = program_.steps[i];
        std::byte* const begin = memory_.data() + place_of_step_[i];
        std::byte* at = begin;
        std::byte* value = s.kind == step_kind::send ? const_cast<std::byte*>(bound.mine) : bound.out;
        std::byte const* operand = bound.mine;
        rank_id number = 0;
        for_lengths(s.local, [&](rank_id block, std::uint64_t count) {
            piece p;
            p.block = block;
            p.value = reinterpret_cast<float*>(value);
            p.operand = reinterpret_cast<float const*>(operand);
            p.count = static_cast<std::size_t>(count);
            p.message = at;
            p.kept_at = is_kept ? memory_.data() + place_of_block_[block] : nullptr;
            p.is_encoded = s.kind == step_kind::send && encodes_[i][is_of_data(s) ? number : 0];
            p.is_used_after = s.kind == step_kind::send && is_of_data(s) && is_used_[i][number];
            if (p.is_used_after) expect_writable(p.value);
            pieces_.push_back(p);
            value += count * sizeof(float);
            operand += count * sizeof(float);
            at += message_bytes(count);
            ++number;
        });
        bound.bytes = static_cast<std::uint64_t>(at - begin);
        bound.waits_for_sends = bound.waits_for_round = false;
        if (s.kind != step_kind::send) {
            bound.out = begin;
        } else {
            bound.mine = begin;
            program_.bytes_sent += bound.bytes;
        }
    }

    /// What the caller gave to be read only cannot become what its message says.
    void expect_writable(float const* value) const {
        if (asked_.input.base == nullptr || asked_.output.contains({asked_.input.first, asked_.input.count})) return;
        auto const* const begin = reinterpret_cast<float const*>(asked_.input.base);
        std::less<float const*> const before{};
        if (before(value, begin) || !before(value, begin + asked_.cut.length(asked_.input.first, asked_.input.count))) return;
        raise(errc::unsupported, std::string{to_string(asked_.what)} + " by " + asked_.algorithm +
                                     " goes on computing with what it sends; compressed, that needs its input in place, or another algorithm");
    }

    block_codec& codec_;
    operation const& asked_;
    bound_program& program_;
    byte_buffer memory_;
    std::vector<std::vector<bool>> encodes_;     // step -> its blocks
    std::vector<std::vector<bool>> is_used_;
    std::vector<std::uint64_t> place_of_block_;  // in memory_
    std::vector<std::uint64_t> place_of_step_;
    std::vector<piece> pieces_;
    std::vector<std::uint32_t> first_;           // step -> its first piece
};

}  // namespace chorus::detail
