// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/collective/detail/binding.hpp"
#include "chorus/collective/detail/coded_program.hpp"
#include "chorus/collective/detail/operation.hpp"
#include "chorus/collective/group.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace chorus::detail {

template <class Transport>
struct pin_of {
    using type = char;  // there is nothing to register
};
template <registering_transport Transport>
struct pin_of<Transport> {
    using type = typename Transport::pin_type;
};

template <class Transport>
struct native_part_of {
    using type = char;  // there is none
};
template <native_transport Transport>
struct native_part_of<Transport> {
    using type = typename Transport::native_operation;
};

/// The rounds of one operation on one transport: the only loop of the library that posts messages. What the transport's library does of its own is one
/// round, in which nothing is posted here.
///
/// A round is posted as a whole, sends first; it is over when all its messages are, its delayed landings and local steps done in the order listed.
/// Up to `in_flight` rounds are under way at once. The operation belongs to the caller and stays where it is.
template <transport Transport>
class rounds {
 public:
    rounds(Transport& net, group_state const& members, operation& asked, message_tag tag) : net_{&net}, group_{&members}, asked_{asked}, tag_{tag} {
        if (asked_.reduction) reduction_ = {&combine_on_arrival, this, asked_.reduction->carrier_bytes};
        bind();
    }
    rounds(rounds const&) = delete;
    rounds& operator=(rounds const&) = delete;

    /// To the buffers that the operation names now.
    void bind() {
        pins_ = {};
        coded_.reset();
        if (asked_.is_native) return bind_natively();
        auto const given = std::exchange(asked_.input, place_of_input());
        binder bound{asked_, scratch_, asked_.codec || reduces_on_arrival()};
        program_ = bound.bind();
        if (asked_.codec) coded_ = std::make_unique<coded_program>(asked_, program_, group_->me);
        auto const worked_on = std::exchange(asked_.input, given);
        if (worked_on.base != given.base) program_.move_in = {const_cast<std::byte*>(worked_on.base), given.base, input_bytes()};
        bounce_ = scratch_.data() + bound.bounce_begin();
        for (bound_step& s : program_.steps) {
            if (s.peer != nobody) s.peer = group_->members[s.peer];
            if (s.kind != step_kind::fold) continue;
            fold_inputs_.resize((std::max)(fold_inputs_.size(), std::size_t{s.inputs} + 1));
        }
        tickets_.resize(program_.steps.size());
        landings_.resize(program_.steps.size());
        pending_.resize(program_.rounds());
        if constexpr (pushing_transport<Transport>) find_lone_sends();
        active_.reserve(program_.steps.size());
        bool const is_in_place = asked_.input.base == asked_.output.base;
        if (coded_) pin_of_messages_ = pinned(coded_->memory().data(), coded_->memory().size());
        pins_ = {pinned(asked_.input.base, is_in_place ? (std::max)(input_bytes(), output_bytes()) : input_bytes()),
                 pinned(is_in_place ? nullptr : asked_.output.base, output_bytes()), pinned(scratch_.data(), scratch_.bytes())};
    }

    /// Before the first `step` of a run.
    void begin() {
        posted_ = 0;
        finished_ = 0;
        if (program_.move_in.bytes > 0) std::memcpy(program_.move_in.to, program_.move_in.from, program_.move_in.bytes);
        if (program_.prepare.convert != nullptr)
            program_.prepare.convert(program_.prepare.to, program_.prepare.from, program_.prepare.count, asked_.ranks);
        for (bound_copy const& c : program_.at_start) std::memcpy(c.to, c.from, c.bytes);
    }

    /// What can be done now without blocking. `done`: the results are in place; `failed`: the transport has failed. Throws what the user's operation throws.
    progress step() {
        if (asked_.is_native) return step_natively();
        for (bool moved = false;;) {
            bool const posted = post_rounds();
            if (!poll_active(moved)) return progress::failed;
            bool const finished = finish_rounds();
            moved = moved || posted || finished;
            if (finished_ == program_.rounds()) return conclude();
            if (!finished) return moved ? progress::moved : progress::idle;
        }
    }

    /// False where a native operation cannot be taken back.
    bool cancel_all() noexcept {
        if constexpr (cancelling_transport<Transport>)
            for (std::uint32_t i : active_) net_->cancel(tickets_[i]);
        active_.clear();
        if constexpr (native_transport<Transport>) return !asked_.is_native || native_.give_up();
        else return true;
    }

    std::uint32_t count() const noexcept { return program_.rounds(); }
    std::uint32_t finished() const noexcept { return finished_; }
    std::uint64_t bytes_sent() const noexcept { return program_.bytes_sent; }
    std::size_t scratch_bytes() const noexcept { return scratch_.bytes(); }

    std::uint64_t input_bytes() const noexcept {
        if (asked_.input.base == nullptr) return 0;
        std::uint64_t const elements =
            asked_.what == collective::all_to_all ? asked_.input_cut.count() : asked_.cut.length(asked_.input.first, asked_.input.count);
        return elements * asked_.element_bytes;
    }
    std::uint64_t output_bytes() const noexcept {
        if (asked_.output.base == nullptr) return 0;
        return asked_.cut.length(asked_.output.first, asked_.output.count) * asked_.element_bytes;
    }

    /// The rank of the transport whose message has failed, or else is waited for longest.
    rank_id first_awaited() const noexcept {
        return active_.empty() ? nobody : program_.steps[active_.front()].peer;
    }

    std::string awaited() const {
        std::string text = "in round " + std::to_string(finished_ + 1) + " of " + std::to_string(program_.rounds());
        std::size_t shown = 0;
        for (std::uint32_t i : active_) {
            bound_step const& s = program_.steps[i];
            if (++shown > 8) return text + ", …";
            text += (shown == 1 ? " it awaits rank " : ", rank ") + std::to_string(s.peer) +
                    (s.kind == step_kind::send ? " (to take " : " (to send ") + std::to_string(s.bytes) + " bytes)";
        }
        return text;
    }

    /// Of the transport's library, after a native operation has failed.
    std::string why_native_failed() const {
        if constexpr (native_transport<Transport>) return std::string{native_.why()};
        else return {};
    }

 private:
    using ticket = typename Transport::ticket;

    enum class landing : std::uint8_t { direct, bounced };

    // ---- binding ----

    bool reduces_on_arrival() const noexcept {
        if constexpr (reducing_transport<Transport>) {
            if constexpr (requires { net_->largest_reduced_element(); })
                return reduction_.element_bytes <= net_->largest_reduced_element();
            else return true;
        } else {
            return false;
        }
    }

    /// The library's own operation stands for the one round.
    void bind_natively() {
        if constexpr (native_transport<Transport>) native_ = net_->make_native(native_call_of(asked_, group_->me, group_->members));
        program_ = {};
        program_.round_begin = {0, 0};
    }

    /// With a codec blocks are worked on where they are written: an input that has its place in the output is copied there first.
    memory_of_blocks<std::byte const> place_of_input() const noexcept {
        auto const& [base, first, count] = asked_.input;
        bool const is_apart = asked_.what == collective::all_to_all || !asked_.output.contains({first, count});
        if (!asked_.codec || base == nullptr || is_apart) return asked_.input;
        std::uint64_t const skipped = asked_.cut.length(asked_.output.first, first - asked_.output.first) * asked_.element_bytes;
        return {asked_.output.base + skipped, first, count};
    }

    /// Registered once, for all runs.
    auto pinned([[maybe_unused]] std::byte const* base, [[maybe_unused]] std::uint64_t bytes) {
        if constexpr (registering_transport<Transport>) {
            if (base == nullptr || bytes == 0) return typename Transport::pin_type{};
            return net_->pin({const_cast<std::byte*>(base), static_cast<std::size_t>(bytes)});
        } else {
            return char{};
        }
    }

    // ---- running ----

    progress step_natively() {
        if constexpr (native_transport<Transport>) {
            if (std::exchange(posted_, 1) == 0) native_.start();
            progress const now = native_.poll();
            return now == progress::done ? conclude() : now;
        } else {
            return progress::failed;
        }
    }

    bool post_rounds() {
        bool posted = false;
        while (posted_ < program_.rounds() && posted_ - finished_ < program_.in_flight) {
            post_round(posted_);
            ++posted_;
            posted = true;
        }
        return posted;
    }

    void post_round(std::uint32_t round) {
        std::uint32_t const begin = program_.round_begin[round];
        std::uint32_t const end = program_.round_begin[round + 1];
        bool all_sent = true;
        std::uint32_t pending = 0;
        for (std::uint32_t i = begin; i < end; ++i) {
            bound_step const& s = program_.steps[i];
            if (s.kind != step_kind::send) continue;
            if (coded_) coded_->prepare(i);
            tickets_[i] = post_send(s, round);
            if (net_->poll(tickets_[i]) == progress::done) continue;
            all_sent = false;
            active_.push_back(i);
            ++pending;
        }
        for (std::uint32_t i = begin; i < end; ++i) {
            bound_step const& s = program_.steps[i];
            if (s.kind != step_kind::recv && s.kind != step_kind::recv_reduce) continue;
            bool const bounced = s.waits_for_round || (s.waits_for_sends && !all_sent);
            landings_[i] = bounced ? landing::bounced : landing::direct;
            tickets_[i] = post_receive(s, bounced, round);
            active_.push_back(i);
            ++pending;
        }
        pending_[round] = pending;
    }

    ticket post_send(bound_step const& s, std::uint32_t round) {
        if constexpr (pushing_transport<Transport>)
            if (is_lone_send_[round] != 0) return net_->post_push(s.peer, tag_, {s.mine, s.bytes}, message_element());
        return net_->post_send(s.peer, tag_, {s.mine, s.bytes});
    }

    /// What messages consist of: a compressor's are bytes.
    std::uint64_t message_element() const noexcept {
        return coded_ ? 1 : asked_.reduction ? asked_.reduction->carrier_bytes : asked_.element_bytes;
    }

    /// Rounds in which, and in those under way beside them, this rank sends one message and receives none.
    void find_lone_sends() {
        auto steps_of = [&](std::uint32_t round, auto const& is_counted) {
            return std::count_if(program_.steps.begin() + program_.round_begin[round], program_.steps.begin() + program_.round_begin[round + 1], is_counted);
        };
        is_lone_send_.assign(count(), 0);
        for (std::uint32_t r = 0; r < count(); ++r) {
            if (steps_of(r, [](bound_step const& s) { return s.kind == step_kind::send; }) != 1) continue;
            std::uint32_t const first = r - (std::min)(r, program_.in_flight - 1);
            std::uint32_t const last = (std::min)(count(), r + program_.in_flight);
            bool receives = false;
            for (std::uint32_t other = first; other < last && !receives; ++other)
                receives = steps_of(other, [](bound_step const& s) { return s.kind == step_kind::recv || s.kind == step_kind::recv_reduce; }) != 0;
            is_lone_send_[r] = receives ? 0 : 1;
        }
    }

    ticket post_receive(bound_step const& s, bool bounced, std::uint32_t round) {
        if (bounced) return net_->post_recv(s.peer, tag_, {landing_place(s, round), s.bytes});
        if constexpr (reducing_transport<Transport>) {
            if (s.kind == step_kind::recv_reduce && !coded_)
                return net_->post_recv_reduce(s.peer, tag_, {s.out, s.mine, s.bytes, s.from_left, &reduction_});
        }
        return net_->post_recv(s.peer, tag_, {s.out, s.bytes});
    }

    std::byte* landing_place(bound_step const& s, std::uint32_t round) const noexcept {
        return bounce_ + (round % program_.in_flight) * program_.bounce_bytes + s.bounce;
    }

    /// False when something failed.
    bool poll_active(bool& moved) {
        std::size_t kept = 0;
        for (std::size_t at = 0; at < active_.size(); ++at) {
            std::uint32_t const i = active_[at];
            progress const now = net_->poll(tickets_[i]);
            if (now == progress::failed || thrown_) {
                active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(kept),
                              active_.begin() + static_cast<std::ptrdiff_t>(at));
                if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
                std::iter_swap(active_.begin(), std::find(active_.begin(), active_.end(), i));
                return false;
            }
            if (now == progress::done) {
                moved = true;
                --pending_[round_of(i)];
                continue;
            }
            moved = moved || now == progress::moved;
            active_[kept++] = i;
        }
        active_.resize(kept);
        return true;
    }

    std::uint32_t round_of(std::uint32_t i) const noexcept {
        std::uint32_t round = finished_;
        while (program_.round_begin[round + 1] <= i) ++round;
        return round;
    }

    bool finish_rounds() {
        bool finished = false;
        while (finished_ < posted_ && pending_[finished_] == 0) {
            finish_round(finished_);
            ++finished_;
            finished = true;
        }
        return finished;
    }

    void finish_round(std::uint32_t round) {
        std::uint32_t const begin = program_.round_begin[round];
        std::uint32_t const end = program_.round_begin[round + 1];
        for (std::uint32_t i = begin; i < end; ++i) {
            bound_step const& s = program_.steps[i];
            bool const arrives = s.kind == step_kind::recv || s.kind == step_kind::recv_reduce;
            if (arrives && coded_) coded_->take(i);
            else if (arrives && landings_[i] == landing::bounced) land(s, landing_place(s, round));
        }
        for (std::uint32_t i = begin; i < end; ++i)
            if (is_local(program_.steps[i].kind)) perform(program_.steps[i]);
    }

    /// What the transport calls, inside a poll that must not throw: an exception is kept until the poll is over.
    static void combine_on_arrival(std::byte* out, std::byte const* left, std::byte const* right, std::size_t count,
                                   void const* me) noexcept {
        rounds const& self = *static_cast<rounds const*>(me);
        reducer const& by = *self.asked_.reduction;
        CHORUS_TRY { by.apply(out, left, right, count, by.op.get()); }
        CHORUS_CATCH_ALL { self.thrown_ = std::current_exception(); }
    }

    void land(bound_step const& s, std::byte const* arrived) {
        if (s.bytes == 0) return;
        if (s.kind == step_kind::recv) std::memcpy(s.out, arrived, s.bytes);
        else combine(s, arrived);
    }

    void combine(bound_step const& s, std::byte const* other) {
        if (s.count == 0) return;
        reducer const& by = *asked_.reduction;
        if (s.from_left) by.apply(s.out, other, s.mine, s.count, by.op.get());
        else by.apply(s.out, s.mine, other, s.count, by.op.get());
    }

    void perform(bound_step const& s) {
        if (s.bytes == 0) return;
        if (s.kind == step_kind::copy) {
            if (s.out != s.other) std::memcpy(s.out, s.other, s.bytes);
        } else if (s.kind == step_kind::reduce) {
            combine(s, s.other);
        } else {
            for (std::uint32_t k = 0; k <= s.inputs; ++k)
                fold_inputs_[k] = k == s.position ? s.mine : s.other + (k < s.position ? k : k - 1) * s.bytes;
            asked_.reduction->fold(s.out, fold_inputs_.data(), std::size_t{s.inputs} + 1, s.count,
                                    asked_.reduction->op.get());
        }
    }

    progress conclude() {
        for (bound_copy const& c : program_.at_end) std::memcpy(c.to, c.from, c.bytes);
        if (program_.finish.convert != nullptr && program_.finish.count > 0)
            program_.finish.convert(program_.finish.to, program_.finish.from, program_.finish.count, asked_.ranks);
        return progress::done;
    }

    Transport* net_;
    group_state const* group_;
    operation& asked_;
    message_tag tag_;
    byte_reduction reduction_;
    byte_buffer scratch_;
    bound_program program_;
    std::unique_ptr<coded_program> coded_;  // with a codec
    [[no_unique_address]] typename native_part_of<Transport>::type native_{};
    std::byte* bounce_ = nullptr;
    std::array<typename pin_of<Transport>::type, 3> pins_{};  // of input, output, scratch
    typename pin_of<Transport>::type pin_of_messages_{};      // of a codec
    std::vector<ticket> tickets_;
    std::vector<landing> landings_;
    std::vector<std::uint8_t> is_lone_send_; // round -> the transport may push its message
    std::vector<std::uint32_t> pending_;     // round -> messages not complete
    std::vector<std::uint32_t> active_;      // steps whose ticket is not complete
    std::vector<std::byte const*> fold_inputs_;
    mutable std::exception_ptr thrown_;      // by the user's operation
    std::uint32_t posted_ = 0;
    std::uint32_t finished_ = 0;
};

}  // namespace chorus::detail
