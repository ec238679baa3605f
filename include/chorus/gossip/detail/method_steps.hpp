// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/collective/all_reduce.hpp"
#include "chorus/detail/under_way.hpp"
#include "chorus/gossip/detail/disagreement.hpp"
#include "chorus/gossip/detail/exchange.hpp"
#include "chorus/gossip/detail/neighbourhood.hpp"
#include "chorus/gossip/stepper.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace chorus::gossip::detail {

/// The steps of one method on one transport: what all methods do, around the three things that a method does itself:
///
/// payload_bytes()   of its messages, the same on all ranks
/// pack(payload)     writes what the neighbours get and says how many bytes of it matter
/// combine(arrivals) makes the values of what came; `arrivals::own` is the weight of this rank's own part
///
/// and what it says of itself: name, law (of the weights), values(), digest(), and whether it `can_skip` neighbours; if not, and for
/// another reason than that a message builds on all before it, why_none_is_skipped.
/// It may have take_late(payload): what came after its step; and pack may ask for the step's row, pack(payload, row).
template <transport Transport, class Method>
class method_steps final : public stepper_model, private chorus::detail::under_way_item {
 public:
    method_steps(group<Transport> const& members, Method method, neighbourhood rows, mixing_options const& options)
        : members_{members}, group_{members.state()}, net_{&members.net()}, method_{std::move(method)}, rows_{std::move(rows)}, options_{options},
          deadline_{options.deadline.is_for_ever() ? members.deadline() : options.deadline},
          exchange_{members, stream_of(*net_, *group_), method_.payload_bytes(), skips(), counts_} {
        for (topo::mixing_row const& row : rows_.kept()) exchange_.reserve(row);
        if constexpr (requires(std::span<std::byte const> payload) { method_.take_late(payload); })
            exchange_.take_late([this](std::span<std::byte const> payload) { method_.take_late(payload); });
    }

    method_steps(method_steps const&) = delete;
    method_steps& operator=(method_steps const&) = delete;

    ~method_steps() override {
        group_->under_way->remove(*this);
        if (is_under_way_ && !skips())
            if constexpr (aborting_transport<Transport>) net_->abort(errc::aborted, net_->rank(), title() + " was destroyed while a step was under way");
    }

    void start(step_id step) override {
        expects(!is_under_way_, [&] { return title() + ": step " + std::to_string(step) + " is started while another is under way"; });
        expects(counts_.steps == 0 || step > step_, [&] { return title() + ": step " + std::to_string(step) + " is started after step " + std::to_string(step_); });
        expect_usable();
        topo::mixing_row const& row = rows_.at(step);
        if constexpr (requires(std::span<std::byte> blank) { method_.pack(blank, row); }) used_ = method_.pack(exchange_.blank(), row);
        else used_ = method_.pack(exchange_.blank());
        step_ = step;
        failure_.reset();
        exchange_.clear_failure();
        began_ = clock::now();
        idle_ = 0;
        ++counts_.steps;
        is_under_way_ = true;
        group_->under_way->add(*this);
        CHORUS_TRY { exchange_.post(step_, row, used_); }
        CHORUS_CATCH_ALL { fail_with_current_exception(); }
    }

    progress advance() noexcept override {
        if (failure_) return progress::failed;
        if (!is_under_way_) return progress::done;
        progress const now = step_on();
        if (now == progress::idle) group_->under_way->help_all_but(*this, false);
        return now;
    }

    bool wait_for(time_limit limit) override {
        std::optional<clock::time_point> until;
        if (!limit.is_for_ever()) until = limit.after(clock::now());
        for (std::uint32_t idle = 0; is_under_way_;) {
            progress const now = step_on();
            if (!is_under_way_) break;
            bool const helped = now == progress::idle && group_->under_way->help_all_but(*this, idle > 64);
            idle = now == progress::idle && !helped ? idle + 1 : 0;
            if (until && clock::now() >= *until) return false;
            if (idle > 32) look_for_lost();
            rest(idle);
        }
        if (failure_) chorus::detail::raise(*failure_);
        return true;
    }

    double disagreement() override {
        expects(!is_under_way_, [&] { return title() + ": its disagreement is asked for while a step is under way"; });
        return disagreement_of(members_, method_.values());
    }

    mixing_counts const& counts() const noexcept override { return counts_; }

 private:
    using clock = std::chrono::steady_clock;

    static std::uint64_t stream_of(Transport& net, chorus::detail::group_state& members) {
        std::uint64_t const number = chorus::detail::next_plan(net, members);
        return counter_random::mix(members.context ^ counter_random::mix(number ^ 0x6A09E667F3BCC909u));
    }

    bool skips() const noexcept { return options_.late == when_late::skip; }

    void expect_usable() const {
        group_->expect_usable(Method::name);
        if constexpr (aborting_transport<Transport> && explaining_transport<Transport>)
            if (net_->is_aborted()) chorus::detail::raise(net_->failure());
    }

    // ---- running ----

    /// The values are written where the caller asks for progress, not while something else is waited for.
    enum class ending : std::uint8_t { now, later };

    progress step_on(ending end = ending::now) noexcept {
        CHORUS_TRY {
            if (failure_) return progress::failed;
            progress const now = exchange_.advance();
            if (now == progress::done) return end == ending::now ? conclude() : progress::idle;
            if (now == progress::failed) return fail(*exchange_.failure());
            if (now == progress::moved) return now;
            if ((++idle_ & 31u) == 0) look_for_lost();
            look_at_the_clock();
        }
        CHORUS_CATCH_ALL { fail_with_current_exception(); }
        return failure_ ? progress::failed : progress::idle;
    }

    progress conclude() {
        method_.combine(exchange_.came());
        end();
        return progress::done;
    }

    void end() noexcept {
        is_under_way_ = false;
        if (!exchange_.has_open()) group_->under_way->remove(*this);
    }

    /// While others are waited for; also between steps, as long as a late neighbour has not taken its message.
    bool help(bool looks) noexcept override {
        if (is_under_way_) return step_on(ending::later) != progress::idle;
        if (looks) look_for_lost();
        if (!exchange_.has_open()) group_->under_way->remove(*this);
        return false;
    }

    void look_for_lost() noexcept {
        if (skips()) exchange_.drop_lost();
    }

    void look_at_the_clock() {
        bool const is_limited = skips() && !options_.late_after.is_for_ever();
        if (!is_limited && deadline_.is_for_ever()) return;
        auto const now = clock::now();
        if (is_limited && now >= options_.late_after.after(began_)) exchange_.leave_out_late();
        else if (!deadline_.is_for_ever() && now >= deadline_.after(began_))
            chorus::detail::raise(errc::timed_out, title() + ": not complete within " + to_string(deadline_) + ';' + exchange_.awaited(), exchange_.first_awaited());
    }

    void rest(std::uint32_t idle) noexcept {
        if (idle == 0) return;
        if constexpr (resting_transport<Transport>) net_->rest(idle);
        else if (idle < 200) std::this_thread::yield();
        else std::this_thread::sleep_for(std::chrono::microseconds{50});
    }

    // ---- failing ----

    progress fail(error const& why) {
        failure_ = error{why.code(), std::string{why.message()} + " [" + title() + ", step " + std::to_string(step_) + ']', why.peer()};
        exchange_.cancel_all();
        if (!skips()) {
            if constexpr (aborting_transport<Transport>) net_->abort(why.code(), why.peer(), failure_->message());
            group_->failure = failure_;
        }
        end();
        return progress::failed;
    }

    void fail_with_current_exception() noexcept {
#if CHORUS_HAS_EXCEPTIONS
        try {
            throw;
        } catch (error const& thrown) {
            fail(thrown);
        } catch (std::exception const& thrown) {
            fail(error{errc::aborted, thrown.what()});
        } catch (...) {
            fail(error{errc::aborted, "an exception of unknown type"});
        }
#endif
    }

    std::string title() const { return std::string{Method::name} + " over " + rows_.name() + " on rank " + std::to_string(group_->members[group_->me]); }

    group<Transport> members_;
    std::shared_ptr<chorus::detail::group_state> group_;
    Transport* net_;
    Method method_;
    neighbourhood rows_;
    mixing_options options_;
    time_limit deadline_;
    mixing_counts counts_;
    exchange<Transport> exchange_;
    step_id step_ = 0;
    std::size_t used_ = 0;
    clock::time_point began_;
    std::uint32_t idle_ = 0;
    bool is_under_way_ = false;
    std::optional<error> failure_;
};

/// Throws `mismatch` on all ranks unless all have the same number: the largest and, by its complement, the smallest are compared. One that has found
/// a flaw of its own throws that, and lets the others know.
template <class Method, transport Transport>
void expect_agreement(group<Transport> const& members, std::uint64_t mine, std::exception_ptr const& flaw) {
    std::vector<std::uint64_t> extremes{mine, ~mine};
    if (members.size() > 1) all_reduce(members, extremes, maximum{});
    if (flaw) std::rethrow_exception(flaw);
    if (extremes[0] != mine || extremes[1] != ~mine)
        chorus::detail::raise(errc::mismatch, std::string{Method::name} + " on rank " + std::to_string(members.world_rank(members.rank())) +
                                                  ": the ranks were not given the same method, graph, weights, count, element and options, or one of them has a graph that is not sound");
}

template <class Method>
std::string why_none_is_skipped() {
    if constexpr (requires { Method::why_none_is_skipped; }) return std::string{Method::why_none_is_skipped};
    else return "a message builds on all before it, so none can be skipped";
}

/// The steps of a method over a graph. Nothing is under way when it throws.
template <class Method, transport Transport, topo::graph Graph, topo::weighting Weighting>
std::unique_ptr<stepper_model> steps_of(group<Transport> const& members, Method method, Graph const& graph, Weighting const& weighting, mixing_options const& options) {
    std::optional<neighbourhood> rows;
    std::exception_ptr flaw;
    std::uint64_t number = 0;
    CHORUS_TRY {
        rows.emplace(graph, weighting, members.rank(), members.size(), Method::law);
        if constexpr (requires { method.expect_graph(*rows); }) method.expect_graph(*rows);
        expects(Method::can_skip || options.late == when_late::fail, [&] {
            return std::string{Method::name} + " on rank " + std::to_string(members.rank()) + ": " + why_none_is_skipped<Method>();
        });
        digest all;
        all.add(Method::name);
        all.add(method.digest());
        all.add(method.payload_bytes());
        all.add(rows->digest_of_all());
        all.add(static_cast<std::uint64_t>(options.late));
        number = all.value();
    }
    CHORUS_CATCH_ALL { flaw = std::current_exception(); }
    if (options.is_checked) expect_agreement<Method>(members, number, flaw);
    else if (flaw) std::rethrow_exception(flaw);
    return std::make_unique<method_steps<Transport, Method>>(members, std::move(method), std::move(*rows), options);
}

}  // namespace chorus::gossip::detail
