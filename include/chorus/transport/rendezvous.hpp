// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"
#include "chorus/base/time_limit.hpp"
#include "chorus/base/types.hpp"

#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// How ranks swap a few bytes (addresses, keys) before a transport between them exists.
///
/// `exchange` is a collective: every rank gives its bytes, any number of them, also none, and gets everybody's, by
/// rank. It blocks, for as long as the object's own deadline allows, and may be called again and again, by every rank
/// equally often. Errors: timed_out, naming ranks that did not come; peer_lost, naming the rank that has ended.
template <class Meeting>
concept bootstrap = requires(Meeting& meet, Meeting const& known, std::span<std::byte const> mine) {
    { known.rank() } noexcept -> std::same_as<rank_id>;
    { known.size() } noexcept -> std::same_as<rank_id>;
    { meet.exchange(mine) } -> std::same_as<std::vector<std::vector<std::byte>>>;
};

/// One rank, which is its own company.
class self_rendezvous {
 public:
    static constexpr rank_id rank() noexcept { return 0; }
    static constexpr rank_id size() noexcept { return 1; }
    std::vector<std::vector<std::byte>> exchange(std::span<std::byte const> mine) {
        return {{mine.begin(), mine.end()}};
    }
};
static_assert(bootstrap<self_rendezvous>);

namespace detail {

/// Where the threads of a `thread_rendezvous` meet. Each round collects what all give; the last one to come opens it
/// for everybody.
class thread_meeting {
 public:
    using gathered = std::vector<std::vector<std::byte>>;

    thread_meeting(rank_id ranks, time_limit deadline)
        : deadline_{deadline}, given_(ranks), has_given_(ranks), has_left_(ranks) {}

    rank_id size() const noexcept { return static_cast<rank_id>(given_.size()); }

    gathered exchange(rank_id me, std::span<std::byte const> mine) {
        std::unique_lock hold{guard_};
        if (!broken_ && has_given_[me])
            break_with(errc::concurrent_use, "rank " + std::to_string(me) + " exchanges twice at once", me);
        if (broken_) raise(*broken_);
        given_[me].assign(mine.begin(), mine.end());
        has_given_[me] = true;
        auto const my_round = round_;
        if (absent().empty()) return open_round();
        blame_who_left();
        auto const is_over = [&] { return round_ != my_round || broken_; };
        if (deadline_.is_for_ever()) changed_.wait(hold, is_over);
        else if (!changed_.wait_until(hold, deadline_.after(std::chrono::steady_clock::now()), is_over))
            break_with(errc::timed_out,
                       "these ranks did not come to an exchange within " + to_string(deadline_) + ": " + list(absent()),
                       absent().front());
        if (round_ == my_round) raise(*broken_);
        return *opened_;
    }

    void leave(rank_id me) noexcept {
        std::lock_guard const hold{guard_};
        has_left_[me] = true;
        blame_who_left();
    }

 private:
    gathered open_round() {
        opened_ = std::make_shared<gathered const>(std::exchange(given_, gathered(given_.size())));
        has_given_.assign(given_.size(), false);
        ++round_;
        changed_.notify_all();
        return *opened_;
    }

    /// Somebody waits for a rank that will not come any more.
    void blame_who_left() {
        auto const missing = absent();
        if (broken_ || missing.size() == given_.size()) return;
        for (rank_id r : missing)
            if (has_left_[r])
                return break_with(errc::peer_lost, "rank " + std::to_string(r) + " left before an exchange", r);
    }

    void break_with(errc code, std::string const& why, rank_id blamed) {
        broken_.emplace(code, why, blamed);
        changed_.notify_all();
    }

    std::vector<rank_id> absent() const {
        std::vector<rank_id> ranks;
        for (rank_id r = 0; r < has_given_.size(); ++r)
            if (!has_given_[r]) ranks.push_back(r);
        return ranks;
    }

    static std::string list(std::vector<rank_id> const& ranks) {
        std::string text;
        for (rank_id r : ranks) text += (text.empty() ? "" : ", ") + std::to_string(r);
        return text;
    }

    time_limit deadline_;
    std::mutex guard_;
    std::condition_variable changed_;
    std::size_t round_ = 0;
    gathered given_;
    std::vector<bool> has_given_;
    std::vector<bool> has_left_;
    std::shared_ptr<gathered const> opened_;
    std::optional<error> broken_;  ///< once set, every exchange fails with it
};

}  // namespace detail

/// One of several threads of one process that are ranks. Each thread uses its own; destroying it tells the others
/// (peer_lost if they wait for it).
class thread_rendezvous {
 public:
    /// One for each rank, to be handed to its thread.
    static std::vector<thread_rendezvous> of(rank_id ranks, time_limit deadline = std::chrono::seconds{60}) {
        detail::expects(ranks > 0, [] { return "a rendezvous of threads needs at least one rank"; });
        auto const meeting = std::make_shared<detail::thread_meeting>(ranks, deadline);
        std::vector<thread_rendezvous> all;
        all.reserve(ranks);
        for (rank_id r = 0; r < ranks; ++r) all.push_back(thread_rendezvous{meeting, r});
        return all;
    }

    thread_rendezvous(thread_rendezvous&&) noexcept = default;
    thread_rendezvous& operator=(thread_rendezvous&& other) noexcept {
        std::swap(meeting_, other.meeting_);
        std::swap(rank_, other.rank_);
        return *this;
    }
    ~thread_rendezvous() {
        if (meeting_) meeting_->leave(rank_);
    }

    rank_id rank() const noexcept { return rank_; }
    rank_id size() const noexcept { return meeting_->size(); }
    std::vector<std::vector<std::byte>> exchange(std::span<std::byte const> mine) {
        return meeting_->exchange(rank_, mine);
    }

 private:
    thread_rendezvous(std::shared_ptr<detail::thread_meeting> meeting, rank_id me)
        : meeting_{std::move(meeting)}, rank_{me} {}

    std::shared_ptr<detail::thread_meeting> meeting_;
    rank_id rank_;
};
static_assert(bootstrap<thread_rendezvous>);

}  // namespace chorus
