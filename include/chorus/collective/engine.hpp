// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/byte_buffer.hpp"
#include "chorus/base/check.hpp"
#include "chorus/collective/detail/binding.hpp"
#include "chorus/collective/detail/coded_program.hpp"
#include "chorus/collective/detail/operation.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/hang_report.hpp"
#include "chorus/collective/plan.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <thread>
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

/// Performs one bound schedule on one transport: the only loop of the library that posts messages. What the transport's library does of its own is one
/// round, in which nothing is posted here.
///
/// A round is posted as a whole, sends first; it is over when all its messages are, its delayed landings and local steps done in the order listed.
/// Up to `in_flight` rounds are under way at once.
template <transport Transport>
class engine final : public plan_model, private under_way_item {
 public:
    engine(group<Transport> const& members, operation asked, time_limit deadline)
        : net_{&members.net()}, group_{members.state()}, asked_{std::move(asked)}, codec_use_{asked_.codec},
          deadline_{deadline.is_for_ever() ? members.deadline() : deadline}, observer_{members.observed_by()} {
        std::uint64_t const number = next_plan(*net_, *group_);
        tag_.stream = counter_random::mix(group_->context ^ (number * 0x9E3779B97F4A7C15u));
        tag_.fingerprint = fingerprint();
        make_record(number);
        if (asked_.reduction)
            reduction_ = {&combine_on_arrival, this, asked_.reduction->carrier_bytes};
        bind();
        record_.rounds = static_cast<std::uint32_t>(program_.rounds());
    }

    engine(engine const&) = delete;
    engine& operator=(engine const&) = delete;

    ~engine() override {
        if (is_over()) return;
        if constexpr (aborting_transport<Transport>)
            net_->abort(errc::aborted, net_->rank(), "a plan was destroyed while it was under way");
        enter_at_last();
        cancel_all();
        end(operation_state::failed);
        group_->failure = error{errc::aborted, "a plan was destroyed while it was under way", net_->rank()};
        leave();
    }

    void start() override {
        user_guard const inside{*this};
        expects(is_over(), [&] { return title() + here() + ": started while it is under way"; });
        group_->expect_usable(to_string(asked_.what));
        expect_usable_transport();
        failure_.reset();
        become(progress::idle);
        group_->under_way->add(*this);
        posted_ = 0;
        finished_ = 0;
        advances_ = 0;
        announce();
        if (!deadline_.is_for_ever()) {
            must_end_ = deadline_.after(std::chrono::steady_clock::now());
            has_asked_ = false;
        }
        begin_buffers();
        step_on();
    }

    progress advance() noexcept override {
        if (is_over()) return state_;
        if (!enter_or_fail()) return progress::failed;
        progress const now = advance_inside(clock_look::rare);
        if (now == progress::idle && (advances_ & 0xFFu) == 0) show_waiting();
        leave();
        return now;
    }

    bool wait_for(time_limit limit) override {
        if (!is_over() && enter_or_fail()) {
            bool const over = wait_inside(limit);
            leave();
            if (!over) return false;
        }
        if (state_ == progress::done) return true;
        raise(failure_ ? *failure_ : error{errc::aborted, "it has failed"});
    }

    void rebind(std::byte const* input, std::byte* output) override {
        expects(is_over(), [&] { return title() + ": bound to other buffers while it is under way"; });
        expect_like(asked_.input.base, input, input_bytes(), "the input");
        expect_like(asked_.output.base, output, output_bytes(), "the output");
        if (input_bytes() > 0 && output_bytes() > 0) expect_same_overlap(input, output);
        if (asked_.input.base != nullptr) asked_.input.base = input;
        if (asked_.output.base != nullptr) asked_.output.base = output;
        bind();
    }

    std::string describe() const override {
        std::string text = title() + here() + " of " + std::to_string(asked_.ranks) + ": ";
        if (asked_.is_native) return text + "done by the library that the transport stands on";
        text += std::to_string(program_.rounds()) + " rounds, sends " + std::to_string(program_.bytes_sent) + " bytes, scratch " + std::to_string(scratch_.bytes()) + " bytes";
        if (!asked_.reason.empty()) text += "; chosen by " + asked_.reason;
        return text;
    }

    std::uint64_t bytes_sent() const noexcept override { return program_.bytes_sent; }

 private:
    using ticket = typename Transport::ticket;

    enum class landing : std::uint8_t { direct, bounced };
    enum class clock_look : std::uint8_t { rare, now };  ///< rare: at every 256th advance

    struct user_guard {
        explicit user_guard(engine& user) : user_{user} {
            if (user_.enter()) return;
            std::string const text = user_.title() + ": " + two_threads;
            if constexpr (aborting_transport<Transport>) user_.net_->abort(errc::concurrent_use, user_.net_->rank(), text);
            raise(errc::concurrent_use, text);
        }
        ~user_guard() { user_.leave(); }
        user_guard(user_guard const&) = delete;
        user_guard& operator=(user_guard const&) = delete;
        engine& user_;
    };

    bool enter() noexcept {
        if constexpr (guarded_transport<Transport>) return net_->try_enter();
        else return true;
    }
    void leave() noexcept {
        if constexpr (guarded_transport<Transport>) net_->leave();
    }
    /// Whoever is inside leaves soon.
    void enter_at_last() noexcept {
        while (!enter()) std::this_thread::yield();
    }
    static constexpr char const* two_threads = "two threads drive it, or its transport, at the same time";

    // ---- binding ----

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
    void expect_like(std::byte const* old, std::byte const* other, std::uint64_t bytes, char const* which) const {
        expects(old == nullptr || other != nullptr || bytes == 0, [&] {
            return title() + here() + ": " + which + " of " + std::to_string(bytes) +
                   " bytes is bound to a null buffer";
        });
    }
    /// Buffers that were apart must be apart again, buffers that were in place must be so again.
    void expect_same_overlap(std::byte const* input, std::byte const* output) const {
        std::less<std::byte const*> const before{};
        auto const apart = [&](std::byte const* in, std::byte const* out) {
            return !before(in, out + output_bytes()) || !before(out, in + input_bytes());
        };
        bool const was_apart = apart(asked_.input.base, asked_.output.base);
        bool const same_place = !was_apart && input - output == asked_.input.base - asked_.output.base;
        expects(same_place || (was_apart && apart(input, output)), [&] {
            return title() + here() +
                   ": the new buffers overlap in another way than those the plan was made for";
        });
    }

    bool reduces_on_arrival() const noexcept {
        if constexpr (reducing_transport<Transport>) {
            if constexpr (requires { net_->largest_reduced_element(); })
                return reduction_.element_bytes <= net_->largest_reduced_element();
            else return true;
        } else {
            return false;
        }
    }

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

    void begin_buffers() {
        if (program_.move_in.bytes > 0) std::memcpy(program_.move_in.to, program_.move_in.from, program_.move_in.bytes);
        if (program_.prepare.convert != nullptr)
            program_.prepare.convert(program_.prepare.to, program_.prepare.from, program_.prepare.count, asked_.ranks);
        for (bound_copy const& c : program_.at_start) std::memcpy(c.to, c.from, c.bytes);
    }

    bool is_over() const noexcept {
        progress const now = state_.load(std::memory_order_acquire);
        return now == progress::done || now == progress::failed;
    }
    progress become(progress next) noexcept {
        state_.store(next, std::memory_order_release);
        return next;
    }

    /// The thread that waits is inside all the time, so that a second one is noticed for certain.
    bool wait_inside(time_limit limit) noexcept {
        std::optional<std::chrono::steady_clock::time_point> until;
        bool const is_limited = !limit.is_for_ever();
        std::uint32_t idle = 0;
        for (std::uint32_t turn = 1;; ++turn) {
            bool const looks = (turn & 0x3Fu) == 8 || idle > 256;
            progress const now = advance_inside(looks ? clock_look::now : clock_look::rare);
            if (is_over()) return true;
            idle = now == progress::idle ? idle + 1 : 0;
            if (looks && idle > 32) show_waiting();
            if (is_limited && looks) {
                auto const time = std::chrono::steady_clock::now();
                if (!until) until = limit.after(time);
                if (time >= *until) return false;
            }
            rest(idle);
        }
    }

    /// False if another thread is inside: both have failed then.
    bool enter_or_fail() noexcept {
        if (enter()) return true;
        if constexpr (aborting_transport<Transport>) net_->abort(errc::concurrent_use, net_->rank(), two_threads);
        enter_at_last();
        if (state_ != progress::failed) give_up(errc::concurrent_use, two_threads);
        leave();
        return false;
    }

    progress advance_inside(clock_look look) noexcept {
        if (is_over()) return state_;
        bool const looks = look == clock_look::now || (++advances_ & 0xFFu) == 0;
        progress const now = step_on();
        bool const helped = now == progress::idle && group_->under_way->help_all_but(*this, looks);
        if (looks) check_deadline();
        return helped && !is_over() ? progress::moved : state_.load();
    }

    bool help(bool looks) noexcept override {
        bool const moved = step_on() != progress::idle;
        if (looks) check_deadline();
        return moved;
    }

    progress step_on() noexcept {
        bool moved = false;
        CHORUS_TRY {
            if (asked_.is_native) return step_natively();
            for (;;) {
                bool const posted = post_rounds();
                if (!poll_active(moved)) return state_;
                bool const finished = finish_rounds();
                moved = moved || posted || finished;
                if (finished_ == program_.rounds()) return conclude();
                if (!finished) return become(moved ? progress::moved : progress::idle);
            }
        }
        CHORUS_CATCH_ALL { give_up_with_current_exception(); }
        return state_;
    }

    progress step_natively() {
        if constexpr (native_transport<Transport>) {
            if (std::exchange(posted_, 1) == 0) native_.start();
            progress const now = native_.poll();
            if (now == progress::done) return conclude();
            if (now != progress::failed) return become(now);
            if (!fail_as_told()) give_up(errc::system_failed, native_.why());
        }
        return state_;
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
        std::uint32_t const rounds = program_.rounds();
        auto count = [&](std::uint32_t round, auto const& is_counted) {
            return std::count_if(program_.steps.begin() + program_.round_begin[round], program_.steps.begin() + program_.round_begin[round + 1], is_counted);
        };
        is_lone_send_.assign(rounds, 0);
        for (std::uint32_t r = 0; r < rounds; ++r) {
            if (count(r, [](bound_step const& s) { return s.kind == step_kind::send; }) != 1) continue;
            std::uint32_t const first = r - (std::min)(r, program_.in_flight - 1);
            std::uint32_t const last = (std::min)(rounds, r + program_.in_flight);
            bool receives = false;
            for (std::uint32_t other = first; other < last && !receives; ++other)
                receives = count(other, [](bound_step const& s) { return s.kind == step_kind::recv || s.kind == step_kind::recv_reduce; }) != 0;
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
                fail_by_transport(i);
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
        engine const& self = *static_cast<engine const*>(me);
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
        end(operation_state::done);
        return become(progress::done);
    }

    void rest(std::uint32_t idle) noexcept {
        if (idle == 0) return;
        if constexpr (resting_transport<Transport>) {
            net_->rest(idle);
        } else {
            if (idle < 200) std::this_thread::yield();
            else std::this_thread::sleep_for(std::chrono::microseconds{50});
        }
    }

    // ---- failing ----

    void check_deadline() noexcept {
        if (deadline_.is_for_ever() || is_over()) return;
        auto const now = std::chrono::steady_clock::now();
        if (now >= must_end_) end_late(now);
    }

    /// Past the deadline the others are asked what they do, and the operation goes on until all have answered, for `view_grace` at most.
    void end_late(std::chrono::steady_clock::time_point now) noexcept {
        if constexpr (surveying_transport<Transport>) {
            if (!std::exchange(has_asked_, true)) ask_views();
            if (now < must_end_ + view_grace && !has_all_views()) return;
        }
        CHORUS_TRY { give_up_with_report(); }
        CHORUS_CATCH_ALL { end_as_failed(); }
    }

    void give_up_with_report() {
        std::string const late = "not complete within " + to_string(deadline_) + "; ";
        if constexpr (surveying_transport<Transport>) {
            if (can_survey()) {
                auto const all = views();
                if (fail_as_told()) return;  // asked last: who left because of an abort left after it
                hang_report const found = explain_hang(all, group_->me);
                return give_up(errc::timed_out, late + found.text + "; here " + awaited(), found.culprit);
            }
        }
        give_up(errc::timed_out, late + awaited(), first_awaited());
    }

    // ---- what the others do ----

    bool can_survey() const noexcept {
        if constexpr (requires { net_->is_surveying(); }) return net_->is_surveying();
        else return true;
    }

    void ask_views() noexcept
        requires surveying_transport<Transport>
    {
        show();
        net_->ask_views();
    }

    bool has_all_views() noexcept
        requires surveying_transport<Transport>
    {
        if (!can_survey()) return true;
        return std::all_of(group_->members.begin(), group_->members.end(),
                           [&](rank_id p) { return net_->has_view_of(p) || net_->has_lost(p); });
    }

    std::vector<rank_view> views()
        requires surveying_transport<Transport>
    {
        show();
        std::vector<rank_view> all;
        for (rank_id p : group_->members)
            all.push_back({p, p == net_->rank() || net_->has_view_of(p), p != net_->rank() && net_->has_lost(p),
                           std::as_const(*net_).view_of(p)});
        return all;
    }

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

    error transport_failure() const
        requires explaining_transport<Transport>
    {
        error const why = net_->failure();
        return {why.code(), std::string{why.message()} + " [" + title() + here() + ']', why.peer()};
    }

    /// Nothing starts on a transport that has failed, even if it would send only.
    void expect_usable_transport() {
        if constexpr (aborting_transport<Transport> && explaining_transport<Transport>) {
            if (!net_->is_aborted()) return;
            group_->failure = transport_failure();
            raise(*group_->failure);
        }
    }

    /// True if somebody has given up already: what that one says is the reason.
    bool fail_as_told() {
        if constexpr (aborting_transport<Transport> && explaining_transport<Transport>) {
            if (!net_->is_aborted()) return false;
            fail(transport_failure());
            return true;
        } else {
            return false;
        }
    }

    void fail_by_transport(std::uint32_t i) {
        if constexpr (explaining_transport<Transport>) {
            fail(transport_failure());
        } else {
            give_up(errc::peer_lost, "the transport failed", program_.steps[i].peer);
        }
    }

    void give_up(errc code, std::string const& why, rank_id peer = nobody) noexcept {
        CHORUS_TRY {
            std::string const text = title() + here() + ": " + why;
            if constexpr (aborting_transport<Transport>) net_->abort(code, peer, text);
            fail(error{code, text, peer});
        }
        CHORUS_CATCH_ALL { end_as_failed(); }
    }

    /// A user's operation or the system threw: kept as an error with its text.
    void give_up_with_current_exception() noexcept {
#if CHORUS_HAS_EXCEPTIONS
        try {
            throw;
        } catch (error const& thrown) {
            give_up(thrown.code(), std::string{thrown.message()}, thrown.peer());
        } catch (std::exception const& thrown) {
            give_up(errc::aborted, thrown.what());
        } catch (...) {
            give_up(errc::aborted, "the operation threw an exception of unknown type");
        }
#endif
    }

    void fail(error const& why) {
        failure_ = why;
        if (!cancel_all())
            failure_ = error{why.code(), std::string{why.message()} + "; the library may still write its buffers", why.peer()};
        group_->failure = failure_;
        end_as_failed();
    }

    void end_as_failed() noexcept {
        end(operation_state::failed);
        become(progress::failed);
    }

    /// False where a native operation cannot be taken back.
    bool cancel_all() noexcept {
        if constexpr (cancelling_transport<Transport>)
            for (std::uint32_t i : active_) net_->cancel(tickets_[i]);
        active_.clear();
        if constexpr (native_transport<Transport>) return !asked_.is_native || native_.give_up();
        else return true;
    }

    // ---- what others see ----

    void announce() noexcept {
        ++record_.run;
        record_.round = 1;
        record_.awaited = nobody;
        record_.state = operation_state::running;
        if constexpr (announcing_transport<Transport>) net_->announce(record_);
        ++group_->counted.started;
        if (observer_ != nullptr) observer_->started(record_, group_->me, asked_.ranks);
    }

    /// Who waits in it lets the others see it, if they see another one or an earlier round; at looks at the clock alone.
    void show_waiting() noexcept {
        if constexpr (following_transport<Transport>) {
            if (is_over()) return;
            operation_record const shown = std::as_const(*net_).view_of(net_->rank());
            bool const is_shown = shown.sequence == record_.sequence && shown.group == record_.group;
            if (!is_shown || shown.round != finished_ + 1 || shown.awaited != first_awaited()) show();
        }
    }

    void show() noexcept override {
        record_.round = finished_ + 1;
        record_.awaited = first_awaited();
        if constexpr (following_transport<Transport>) net_->show(record_);
    }

    void end(operation_state outcome) noexcept {
        bool const is_done = outcome == operation_state::done;
        group_->under_way->remove(*this);
        record_.state = outcome;
        if constexpr (following_transport<Transport>) {
            net_->show_end(record_);
            if (!group_->under_way->empty()) group_->under_way->show_last();
        }
        ++(is_done ? group_->counted.finished : group_->counted.failed);
        if (is_done) group_->counted.bytes_sent += program_.bytes_sent;
        if (observer_ != nullptr) observer_->ended(record_, outcome, is_done ? program_.bytes_sent : 0);
    }

    /// " on rank 5 (2 in the group)"
    std::string here() const {
        rank_id const world = group_->members[group_->me];
        std::string const text = " on rank " + std::to_string(world);
        return world == group_->me ? text : text + " (" + std::to_string(group_->me) + " in the group)";
    }

    std::string title() const {
        return std::string{to_string(asked_.what)} + " #" + std::to_string(record_.sequence) + " of " +
               std::to_string(asked_.count) + ' ' + asked_.element + " by " + asked_.algorithm;
    }

    std::uint32_t fingerprint() const noexcept {
        std::uint64_t hash = counter_random::mix(static_cast<std::uint64_t>(asked_.what) + 1);
        auto add = [&](std::uint64_t value) { hash = counter_random::mix(hash ^ (value + 0x9E3779B97F4A7C15u)); };
        add(asked_.root);
        add(asked_.count);
        for (char c : asked_.element) add(static_cast<unsigned char>(c));
        for (char c : asked_.algorithm) add(static_cast<unsigned char>(c));
        return static_cast<std::uint32_t>(hash >> 32);
    }

    void make_record(std::uint64_t number) {
        operation_record& record = record_;
        record.sequence = number - 1;
        record.group = static_cast<std::uint32_t>(group_->context);
        if constexpr (counting_transport<Transport>) record.ordinal = number;
        record.count = asked_.count;
        record.stream = tag_.stream;
        record.fingerprint = tag_.fingerprint;
        record.root = asked_.root;
        auto cut = [](auto& to, std::string_view text) {
            std::size_t const length = (std::min)(text.size(), to.size() - 1);
            std::copy_n(text.data(), length, to.data());
        };
        cut(record.operation, to_string(asked_.what));
        cut(record.algorithm, asked_.algorithm);
        cut(record.element, asked_.element);
    }

    Transport* net_;
    std::shared_ptr<group_state> group_;
    operation asked_;
    codec_use codec_use_;
    time_limit deadline_;
    observer* observer_;
    message_tag tag_;
    operation_record record_;
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
    std::optional<error> failure_;
    std::chrono::steady_clock::time_point must_end_;
    std::atomic<progress> state_{progress::done};  // written by whoever is inside, read by anybody
    std::uint32_t posted_ = 0;
    std::uint32_t finished_ = 0;
    std::uint32_t advances_ = 0;
    bool has_asked_ = false;  // the others, after the deadline
};

}  // namespace chorus::detail
