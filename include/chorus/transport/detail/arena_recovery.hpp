// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/time_limit.hpp"
#include "chorus/transport/detail/mailbox_arena.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

namespace chorus::detail {

/// How the ranks of an arena agree on who goes on after a failure, by words in shared memory alone.
///
/// Every rank that lives passes four stages of recovery number n: it has let go of everything (arrived); the lowest living rank has written
/// who survives (decided); it has thrown away what was under way (clean); the lowest living survivor has cleared the abort (resumed). Whoever dies
/// meanwhile is not waited for; if it was the lowest, the next one takes over, which may repeat its writes without harm.
template <class IsAlive>
class arena_recovery {
 public:
    /// `is_alive(rank)` may cost a system call.
    arena_recovery(mailbox_arena const& arena, rank_id me, IsAlive is_alive, time_limit limit)
        : arena_{arena}, me_{me}, is_alive_{is_alive}, number_{arena.header().recoveries() + 1}, limit_{limit} {}

    /// The survivors in order. Throws timed_out if the others do not come to an end within twice the limit, and peer_lost if this rank is not among them.
    std::vector<rank_id> agree() {
        if (!counts(me_, 0)) raise_excluded();
        arena_.member_of(me_).recovery.store(arrived(), std::memory_order_release);
        start_clock();
        wait_until([&] { return is_decided() || (leads(0) && decide()); }, "decide who survives");
        if (!survives(me_)) raise_excluded();
        std::vector<rank_id> all;
        for (rank_id p = 0; p < ranks(); ++p)
            if (survives(p)) all.push_back(p);
        return all;
    }

    /// After this rank has thrown away what was under way.
    void resume() {
        arena_.member_of(me_).recovery.store(clean(), std::memory_order_release);
        start_clock();
        wait_until([&] { return arena_.header().recoveries() >= number_ || (leads(number_) && clear()); },
                   "be ready to go on");
    }

 private:
    std::uint32_t arrived() const noexcept { return 2 * number_ - 1; }
    std::uint32_t clean() const noexcept { return 2 * number_; }
    rank_id ranks() const noexcept { return arena_.shape().ranks; }
    bool is_decided() const noexcept { return arena_.header().decided.load(std::memory_order_acquire) >= number_; }
    bool survives(rank_id p) const noexcept { return arena_.member_of(p).survives.load() == number_; }

    bool lives(rank_id p) const noexcept {
        return p == me_ || (arena_.member_of(p).presence.load(std::memory_order_acquire) != presence_left && is_alive_(p));
    }

    /// Whether this is the lowest living rank of those that survived recovery `among`; 0: of those that survived the last one.
    bool leads(std::uint32_t among) const noexcept {
        for (rank_id p = 0; p < me_; ++p)
            if (counts(p, among) && lives(p) && !is_late(p)) return false;
        return true;
    }
    bool counts(rank_id p, std::uint32_t among) const noexcept {
        return arena_.member_of(p).survives.load() >= (among == 0 ? number_ - 1 : among);
    }
    /// A rank that does not come is not waited for for ever.
    bool is_late(rank_id p) const noexcept {
        return arena_.member_of(p).recovery.load(std::memory_order_acquire) < arrived() && is_over();
    }
    bool is_over() const noexcept { return !limit_.is_for_ever() && std::chrono::steady_clock::now() > until_; }

    /// True when done: everybody who lives has come, or has had the time.
    bool decide() noexcept {
        for (rank_id p = 0; p < ranks(); ++p)
            if (counts(p, 0) && lives(p) && p != me_ && arena_.member_of(p).recovery.load() < arrived() && !is_over()) return false;
        for (rank_id p = 0; p < ranks(); ++p) {
            bool const stays = counts(p, 0) && lives(p) && arena_.member_of(p).recovery.load(std::memory_order_acquire) >= arrived();
            if (stays) arena_.member_of(p).survives.store(number_);
            else if (survives(p)) arena_.member_of(p).survives.store(number_ - 1);
        }
        arena_.header().decided.store(number_, std::memory_order_release);
        return true;
    }

    bool clear() noexcept {
        for (rank_id p = 0; p < ranks(); ++p)
            if (survives(p) && lives(p) && arena_.member_of(p).recovery.load(std::memory_order_acquire) < clean()) return false;
        arena_.header().abort_word.store(4 * number_ + abort_none, std::memory_order_release);
        return true;
    }

    [[noreturn]] void raise_excluded() const {
        raise(errc::peer_lost, "the others went on without rank " + std::to_string(me_) + ", which came too late", me_);
    }

    void start_clock() noexcept {
        auto const now = std::chrono::steady_clock::now();
        until_ = limit_.is_for_ever() ? now : limit_.after(now);
        at_last_ = limit_.is_for_ever() ? now : limit_.after(until_) + std::chrono::seconds{1};
    }

    template <class Condition>
    void wait_until(Condition const& holds, char const* what) {
        for (std::uint32_t turn = 0; !holds(); ++turn) {
            if (!limit_.is_for_ever() && std::chrono::steady_clock::now() > at_last_)
                raise(errc::timed_out, "rank " + std::to_string(me_) + " waited in vain for the others to " + what);
            if (turn < 100) std::this_thread::yield();
            else std::this_thread::sleep_for(std::chrono::microseconds{200});
        }
    }

    mailbox_arena arena_;
    rank_id me_;
    IsAlive is_alive_;
    std::uint32_t number_;
    time_limit limit_;
    std::chrono::steady_clock::time_point until_{};
    std::chrono::steady_clock::time_point at_last_{};
};

}  // namespace chorus::detail
