// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/collective/detail/operation.hpp"
#include "chorus/collective/detail/operation_identity.hpp"
#include "chorus/collective/detail/rounds.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/hang_report.hpp"
#include "chorus/collective/plan.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::detail {

/// One operation on one transport from its start to its end: who may drive it, until when, what is told when it fails and what others see of it. Its
/// messages are in `rounds`.
template <transport Transport>
class engine final : public plan_model, private under_way_item {
 public:
    engine(group<Transport> const& members, operation asked, time_limit deadline)
        : net_{&members.net()}, group_{members.state()}, asked_{std::move(asked)}, codec_use_{asked_.codec},
          deadline_{deadline.is_for_ever() ? members.deadline() : deadline}, observer_{members.observed_by()},
          record_{record_of(asked_, *group_, next_plan(*net_, *group_), counting_transport<Transport>)},
          rounds_{*net_, *group_, asked_, {.stream = record_.stream, .fingerprint = record_.fingerprint}} {
        record_.rounds = rounds_.count();
    }

    engine(engine const&) = delete;
    engine& operator=(engine const&) = delete;

    ~engine() override {
        if (is_over()) return;
        if constexpr (aborting_transport<Transport>)
            net_->abort(errc::aborted, net_->rank(), "a plan was destroyed while it was under way");
        enter_at_last();
        rounds_.cancel_all();
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
        advances_ = 0;
        announce();
        if (!deadline_.is_for_ever()) {
            must_end_ = deadline_.after(std::chrono::steady_clock::now());
            has_asked_ = false;
        }
        rounds_.begin();
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
        expect_like(asked_.input.base, input, rounds_.input_bytes(), "the input");
        expect_like(asked_.output.base, output, rounds_.output_bytes(), "the output");
        if (rounds_.input_bytes() > 0 && rounds_.output_bytes() > 0) expect_same_overlap(input, output);
        if (asked_.input.base != nullptr) asked_.input.base = input;
        if (asked_.output.base != nullptr) asked_.output.base = output;
        rounds_.bind();
    }

    std::string describe() const override {
        std::string text = title() + here() + " of " + std::to_string(asked_.ranks) + ": ";
        if (asked_.is_native) return text + "done by the library that the transport stands on";
        text += std::to_string(rounds_.count()) + " rounds, sends " + std::to_string(bytes_sent()) + " bytes, scratch " + std::to_string(rounds_.scratch_bytes()) + " bytes";
        if (!asked_.reason.empty()) text += "; chosen by " + asked_.reason;
        return text;
    }

    std::uint64_t bytes_sent() const noexcept override { return rounds_.bytes_sent(); }

 private:
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
            return !before(in, out + rounds_.output_bytes()) || !before(out, in + rounds_.input_bytes());
        };
        bool const was_apart = apart(asked_.input.base, asked_.output.base);
        bool const same_place = !was_apart && input - output == asked_.input.base - asked_.output.base;
        expects(same_place || (was_apart && apart(input, output)), [&] {
            return title() + here() +
                   ": the new buffers overlap in another way than those the plan was made for";
        });
    }

    // ---- running ----

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
        CHORUS_TRY {
            progress const now = rounds_.step();
            if (now == progress::failed) {
                fail_by_transport();
                return state_;
            }
            if (now == progress::done) end(operation_state::done);
            return become(now);
        }
        CHORUS_CATCH_ALL { give_up_with_current_exception(); }
        return state_;
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
                return give_up(errc::timed_out, late + found.text + "; here " + rounds_.awaited(), found.culprit);
            }
        }
        give_up(errc::timed_out, late + rounds_.awaited(), rounds_.first_awaited());
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

    void fail_by_transport() {
        if (asked_.is_native) {
            if (!fail_as_told()) give_up(errc::system_failed, rounds_.why_native_failed());
        } else if constexpr (explaining_transport<Transport>) {
            fail(transport_failure());
        } else {
            give_up(errc::peer_lost, "the transport failed", rounds_.first_awaited());
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
        if (!rounds_.cancel_all())
            failure_ = error{why.code(), std::string{why.message()} + "; the library may still write its buffers", why.peer()};
        group_->failure = failure_;
        end_as_failed();
    }

    void end_as_failed() noexcept {
        end(operation_state::failed);
        become(progress::failed);
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
            if (!is_shown || shown.round != rounds_.finished() + 1 || shown.awaited != rounds_.first_awaited()) show();
        }
    }

    void show() noexcept override {
        record_.round = rounds_.finished() + 1;
        record_.awaited = rounds_.first_awaited();
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
        if (is_done) group_->counted.bytes_sent += bytes_sent();
        if (observer_ != nullptr) observer_->ended(record_, outcome, is_done ? bytes_sent() : 0);
    }

    /// " on rank 5 (2 in the group)"
    std::string here() const { return on_rank(group_->members[group_->me], group_->me); }
    std::string title() const { return title_of(asked_, record_.sequence); }

    Transport* net_;
    std::shared_ptr<group_state> group_;
    operation asked_;
    codec_use codec_use_;
    time_limit deadline_;
    observer* observer_;
    operation_record record_;
    rounds<Transport> rounds_;
    std::optional<error> failure_;
    std::chrono::steady_clock::time_point must_end_;
    std::atomic<progress> state_{progress::done};  // written by whoever is inside, read by anybody
    std::uint32_t advances_ = 0;
    bool has_asked_ = false;  // the others, after the deadline
};

}  // namespace chorus::detail
