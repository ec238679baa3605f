// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/base/error.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/detail/current_error.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace chorus::detail {

/// Plans one after another, with work of this rank alone before each and after the last: what a schedule cannot say because the work is no reduction.
/// Allocates nothing while it runs, unless its stages do. What the work throws fails the whole, and `tell` is called with it, so that others do not wait.
class staged_plan final : public plan_model {
 public:
    /// Does this rank's part, and returns the plan that is run next; that lives until the stage is begun again. What is made anew each time is made in a
    /// group of its own, where no other call can come between.
    using stage = std::function<plan&()>;
    using work = std::function<void()>;
    using teller = std::function<void(error const&)>;

    staged_plan(std::string title, std::vector<stage> stages, work at_end, teller tell)
        : title_{std::move(title)}, stages_{std::move(stages)}, plans_(stages_.size(), nullptr), at_end_{std::move(at_end)}, tell_{std::move(tell)}, at_{stages_.size()} {}

    void start() override {
        expects(is_over(), [&] { return title_ + ": started while it is under way"; });
        failure_.reset();
        at_ = 0;
        CHORUS_TRY { begin_stage(); }
        CHORUS_CATCH_ALL { keep_failure(); }
        if (failure_) raise(*failure_);
    }

    progress advance() noexcept override {
        if (failure_) return progress::failed;
        if (is_over()) return progress::done;
        CHORUS_TRY {
            progress const now = plans_[at_]->advance();
            if (now == progress::failed) plans_[at_]->wait();  // throws what it met
            if (now != progress::done) return now;
            pass_on();
            return is_over() ? progress::done : progress::moved;
        }
        CHORUS_CATCH_ALL { keep_failure(); }
        return progress::failed;
    }

    bool wait_for(time_limit limit) override {
        auto const began = std::chrono::steady_clock::now();
        while (!failure_ && !is_over()) {
            CHORUS_TRY {
                if (!plans_[at_]->wait_for(left_of(limit, began))) return false;
                pass_on();
            }
            CHORUS_CATCH_ALL { keep_failure(); }
        }
        if (failure_) raise(*failure_);
        return true;
    }

    void rebind(std::byte const*, std::byte*) override { raise(errc::unsupported, title_ + " cannot be bound to other buffers"); }

    /// Of the stages that have been begun.
    std::string describe() const override {
        std::string text = title_;
        for (plan const* p : plans_)
            if (p != nullptr) text += (text.size() == title_.size() ? ": " : "; then ") + p->describe();
        return text;
    }
    std::uint64_t bytes_sent() const noexcept override {
        std::uint64_t bytes = 0;
        for (plan const* p : plans_) bytes += p == nullptr ? 0 : p->bytes_sent();
        return bytes;
    }

 private:
    bool is_over() const noexcept { return failure_.has_value() || at_ == stages_.size(); }

    void begin_stage() {
        if (stages_.empty()) return at_end_();
        plans_[at_] = &stages_[at_]();
        plans_[at_]->start();
    }
    void pass_on() {
        if (at_ + 1 == stages_.size()) at_end_();
        ++at_;
        if (!is_over()) begin_stage();
    }

    static time_limit left_of(time_limit limit, std::chrono::steady_clock::time_point began) {
        if (limit.is_for_ever()) return limit;
        auto const left = limit.after(began) - std::chrono::steady_clock::now();
        return left > std::chrono::nanoseconds{0} ? time_limit{left} : time_limit{std::chrono::nanoseconds{0}};
    }

    void keep_failure() noexcept {
        failure_.emplace(current_error(title_));
        tell_(*failure_);
    }

    std::string title_;
    std::vector<stage> stages_;
    std::vector<plan*> plans_;  // those last run
    work at_end_;
    teller tell_;
    std::size_t at_;  // the stage under way; one past the last: none
    std::optional<error> failure_;
};

/// Tells the other members of a group that this rank has failed outside an operation.
template <transport Transport>
staged_plan::teller teller_of(group<Transport> const& members) {
    return [net = &members.net(), state = members.state()](error const& why) {
        if (!state->failure) state->failure = why;
        if constexpr (aborting_transport<Transport>) net->abort(why.code(), net->rank(), why.message());
    };
}

}  // namespace chorus::detail
