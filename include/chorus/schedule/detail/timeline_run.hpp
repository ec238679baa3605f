// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/schedule/cost.hpp"
#include "chorus/schedule/detail/message_pairs.hpp"
#include "chorus/schedule/schedule.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace chorus {

/// What connects the ranks. Times in seconds.
struct network {
    link_model link{};                ///< between any two ranks; per_reduced_byte is a rank's own
    rank_id rack = 0;                 ///< ranks per rack, neighbours first; 0: all in one
    double uplink_latency = 0;        ///< added to messages between racks
    double uplink_per_byte = 0;       ///< of the one uplink, each way, that a rack's ranks share
    std::vector<double> slow_down{};    ///< per rank: factor on its time per byte, sent, received or reduced; absent: 1
    std::vector<double> start_delay{};  ///< per rank: when it enters; absent: 0
};

namespace detail {

/// What a stretch of time was spent on.
enum class spent_on : std::uint8_t {
    start,   ///< rank `from` had not entered
    link,    ///< a message from rank `from` to rank `to`
    uplink,  ///< a message held up by the uplinks between racks `from` and `to`
    compute  ///< rank `from` reduced
};

struct timeline_stretch {
    spent_on spent = spent_on::start;
    rank_id from = 0;
    rank_id to = 0;
    double begin = 0;
    double end = 0;
};

inline std::string to_string(timeline_stretch const& s) {
    std::string const from = std::to_string(s.from);
    switch (s.spent) {
        case spent_on::start: return "start of rank " + from;
        case spent_on::link: return "link " + from + "->" + std::to_string(s.to);
        case spent_on::uplink: return "uplink of racks " + from + "->" + std::to_string(s.to);
        case spent_on::compute: return "rank " + from;
    }
    return {};
}

/// One discrete-event run. Messages are begun in the order in which both their ends are ready, ties by place in the
/// round, then by rank; each takes its resources for as long as they need, and remembers what made it wait: that is
/// the critical path.
class timeline_run {
 public:
    timeline_run(std::span<schedule const> plans, double bytes, network const& net)
        : plans_{plans}, net_{net}, size_{static_cast<rank_id>(plans.size())}, ranks_(size_) {
        std::string const alone = pairs_.match(plans);
        expects(alone.empty(), [&] { return "cannot simulate: " + alone; });
        rank_id const racks = net.rack == 0 ? 1 : size_ / net.rack + 1;
        up_.resize(racks);
        down_.resize(racks);
        for (rank_id me = 0; me < size_; ++me) set_up(me, bytes);
    }

    void perform() {
        for (rank_id me = 0; me < size_; ++me) go_on(me);
        while (!ready_.empty()) {
            candidate const next = ready_.top();
            ready_.pop();
            transfer(next);
        }
        for (rank_id me = 0; me < size_; ++me)
            expects(ranks_[me].done == plans_[me].rounds(), [] { return "cannot simulate: the schedules never end"; });
    }

    std::vector<double> finish() const {
        std::vector<double> times;
        for (rank_state const& rank : ranks_) times.push_back(rank.end.time);
        return times;
    }

    /// From time 0 to the end of the rank that ends last.
    std::vector<timeline_stretch> critical_path() const {
        moment at;
        for (rank_state const& rank : ranks_)
            if (rank.end.time > at.time) at = rank.end;
        std::vector<timeline_stretch> path;
        while (at.cause != none && at.time > 0) {
            activity const& done = activities_[at.cause];
            if (at.time > done.begin.time) path.push_back({done.spent, done.from, done.to, done.begin.time, at.time});
            at = done.begin;
        }
        std::reverse(path.begin(), path.end());
        return path;
    }

 private:
    static constexpr std::uint32_t none = 0xFFFFFFFFu;

    /// A point in time, and the activity that made it no earlier.
    struct moment {
        double time = 0;
        std::uint32_t cause = none;
    };

    struct activity {
        spent_on spent = spent_on::start;
        rank_id from = 0;
        rank_id to = 0;
        moment begin{};
    };

    /// A message under way or past.
    struct transfer_times {
        moment sent;     // the sender may reuse its blocks
        moment arrived;
    };

    struct candidate {
        moment ready;
        std::uint32_t place = 0;  // in the sender's round
        rank_id from = 0;
        std::uint32_t step = 0;

        friend bool operator<(candidate const& a, candidate const& b) {  // for a queue whose top is the greatest
            return std::tuple{b.ready.time, b.place, b.from, b.step} <
                   std::tuple{a.ready.time, a.place, a.from, a.step};
        }
    };

    struct rank_state {
        double slow_down = 1;
        double block_bytes = 0;
        std::vector<moment> begin;               // per round under way or past
        std::vector<std::uint32_t> awaited;      // per round: messages that have not begun to move
        std::vector<transfer_times> transfers;   // per step that sends
        moment end;                              // of the last round that ended
        moment reduced;                          // its reductions so far
        moment way_out;                          // when it is free
        moment way_in;
        std::uint32_t done = 0;
    };

    static moment later(moment a, moment b) noexcept { return b.time > a.time ? b : a; }

    void set_up(rank_id me, double bytes) {
        schedule const& plan = plans_[me];
        rank_state& own = ranks_[me];
        own.block_bytes = bytes / plan.blocks();
        if (me < net_.slow_down.size()) own.slow_down = net_.slow_down[me];
        if (me < net_.start_delay.size() && net_.start_delay[me] > 0)
            own.end = after({}, net_.start_delay[me], {.spent = spent_on::start, .from = me});
        own.reduced = own.end;
        own.transfers.resize(plan.steps().size());
        own.awaited.resize(plan.rounds(), 0);
        own.begin.reserve(plan.rounds());
        for (std::uint32_t r = 0; r < plan.rounds(); ++r)
            for (std::uint32_t i = plan.round_begin(r); i < plan.round_begin(r + 1); ++i)
                if (!is_local(plan.steps()[i].kind)) ++own.awaited[r];
    }

    /// The end of an activity that begins at `begin` and lasts `seconds`.
    moment after(moment begin, double seconds, activity what) {
        what.begin = begin;
        activities_.push_back(what);
        return {begin.time + seconds, static_cast<std::uint32_t>(activities_.size() - 1)};
    }

    double bytes_of(rank_id me, block_range range) const {
        if (range.where != space::scratch) return range.count * ranks_[me].block_bytes;
        double blocks = 0;
        for (rank_id slot = range.first; slot < range.end(); ++slot) blocks += plans_[me].slots()[slot].count;
        return blocks * ranks_[me].block_bytes;
    }

    rank_id rack_of(rank_id rank) const noexcept { return net_.rack == 0 ? 0 : rank / net_.rack; }

    /// Ends what has nothing to await, and begins what may be under way then.
    void go_on(rank_id me) {
        rank_state& own = ranks_[me];
        schedule const& plan = plans_[me];
        for (;;) {
            while (own.begin.size() < plan.rounds() && own.begin.size() - own.done < plan.in_flight()) begin_round(me);
            if (own.done == own.begin.size() || own.awaited[own.done] > 0) return;
            end_round(me);
        }
    }

    void begin_round(rank_id me) {
        rank_state& own = ranks_[me];
        auto const r = static_cast<std::uint32_t>(own.begin.size());
        own.begin.push_back(own.end);
        std::uint32_t const first = plans_[me].round_begin(r);
        for (std::uint32_t i = first; i < plans_[me].round_begin(r + 1); ++i) {
            step const& s = plans_[me].steps()[i];
            if (is_local(s.kind)) continue;
            message_end const there = pairs_.partner(me, i);
            if (there.round >= ranks_[there.rank].begin.size()) continue;
            moment const ready = later(own.end, ranks_[there.rank].begin[there.round]);
            if (there.rank == me && there.round == r && s.kind == step_kind::send)
                continue;  // its receive will find it
            if (s.kind == step_kind::send) ready_.push({ready, i - first, me, i});
            else ready_.push({ready, there.step - plans_[there.rank].round_begin(there.round), there.rank, there.step});
        }
    }

    void transfer(candidate const& next) {
        message_end const to = pairs_.partner(next.from, next.step);
        rank_state& sender = ranks_[next.from];
        rank_state& receiver = ranks_[to.rank];
        double const bytes = bytes_of(next.from, plans_[next.from].steps()[next.step].local);
        rank_id const rack_from = rack_of(next.from);
        rank_id const rack_to = rack_of(to.rank);
        bool const crosses = rack_from != rack_to;
        moment begin = later(later(next.ready, sender.way_out), receiver.way_in);
        if (crosses) begin = later(later(begin, up_[rack_from]), down_[rack_to]);

        double const out = bytes * net_.link.per_byte * sender.slow_down;
        double const in = bytes * net_.link.per_byte * receiver.slow_down;
        double const across = crosses ? bytes * net_.uplink_per_byte : 0;
        double const moving = (std::max)((std::max)(out, in), across);
        activity what{.spent = spent_on::link, .from = next.from, .to = to.rank};
        if (across > 0 && across >= moving) what = {.spent = spent_on::uplink, .from = rack_from, .to = rack_to};
        moment const arrived = after(begin, moving + net_.link.latency + (crosses ? net_.uplink_latency : 0), what);
        auto until = [&](double seconds) { return moment{begin.time + seconds, arrived.cause}; };
        sender.way_out = until(out);
        receiver.way_in = until(in);
        if (crosses) up_[rack_from] = down_[rack_to] = until(across);
        sender.transfers[next.step] = {until(moving), arrived};
        count_off(next.from, round_of(plans_[next.from], next.step));
        count_off(to.rank, to.round);
        go_on(next.from);
        go_on(to.rank);
    }

    void count_off(rank_id me, std::uint32_t round) { --ranks_[me].awaited[round]; }

    void end_round(rank_id me) {
        rank_state& own = ranks_[me];
        schedule const& plan = plans_[me];
        moment end = own.end;
        for (std::uint32_t i = plan.round_begin(own.done); i < plan.round_begin(own.done + 1); ++i) {
            step const& s = plan.steps()[i];
            if (is_local(s.kind)) continue;
            message_end const there = pairs_.partner(me, i);
            if (s.kind == step_kind::send) end = later(end, own.transfers[i].sent);
            else end = later(end, ranks_[there.rank].transfers[there.step].arrived);
            if (s.kind == step_kind::recv_reduce)
                reduce(me, ranks_[there.rank].transfers[there.step].arrived, bytes_of(me, s.local));
        }
        moment const landed = end;
        for (std::uint32_t i = plan.round_begin(own.done); i < plan.round_begin(own.done + 1); ++i) {
            step const& s = plan.steps()[i];
            if (s.kind == step_kind::reduce) reduce(me, landed, bytes_of(me, s.local));
            if (s.kind == step_kind::fold) reduce(me, landed, bytes_of(me, s.local) * s.other.count);
        }
        own.end = later(end, own.reduced);
        ++own.done;
    }

    /// `bytes` of operands that are there from `given` on.
    void reduce(rank_id me, moment given, double bytes) {
        rank_state& own = ranks_[me];
        double const seconds = bytes * net_.link.per_reduced_byte * own.slow_down;
        own.reduced = after(later(given, own.reduced), seconds, {.spent = spent_on::compute, .from = me, .to = me});
    }

    std::span<schedule const> plans_;
    network const& net_;
    rank_id size_;
    std::vector<rank_state> ranks_;
    std::vector<moment> up_;
    std::vector<moment> down_;
    std::vector<activity> activities_;
    std::priority_queue<candidate> ready_;
    message_pairs pairs_;
};

}  // namespace detail
}  // namespace chorus
