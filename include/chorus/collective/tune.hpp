// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/collective/all_reduce.hpp"
#include "chorus/collective/barrier.hpp"
#include "chorus/collective/detail/tuned_call.hpp"
#include "chorus/collective/group.hpp"
#include "chorus/collective/plan.hpp"
#include "chorus/data/reduction.hpp"
#include "chorus/schedule/measured_selection.hpp"
#include "chorus/schedule/selection_table.hpp"
#include "chorus/transport/transport.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace chorus {

/// How far measuring has come: told after each size.
struct tuning_step {
    measured_point measured;      ///< at this size
    std::size_t done = 0;         ///< sizes, of all collectives
    std::size_t all = 0;
    double seconds = 0;           ///< since the beginning, on the slowest rank
};

/// What to measure, and for how long. Equal on all ranks, but for `clock` and `report`.
struct tune_options {
    std::vector<collective> operations{std::begin(all_collectives), std::end(all_collectives)};
    std::vector<std::uint64_t> bytes{4,     16,     64,     256,     1024,    4096,
                                     16384, 65536, 262144, 1048576, 4194304, 16777216};  ///< rounded up to whole blocks
    std::vector<any_algorithm> candidates{};    ///< those that offer a collective are measured; none: tuning_candidates
    std::size_t repeat = 101;                   ///< timed calls of each algorithm at each size, at most
    double seconds = 60;                        ///< all together; what is not reached then is left out
    double tolerance = 0.02;                    ///< see select_rows
    std::optional<bool> has_one_clock{};        ///< all ranks read the same; not told: over threads, shm, self
    std::function<double()> clock{};            ///< seconds since some moment; none: the steady clock
    std::function<void(tuning_step const&)> report{};
};

/// Measures algorithms and makes a table of what is fastest, step by step; see `tune`.
template <transport Transport>
class tuner {
 public:
    /// Throws `invalid_argument` for a transport that does not say its kind.
    explicit tuner(group<Transport> const& members, tune_options options = {})
        : members_{members}, options_{std::move(options)}, kind_{kind_of(members.net())} {
        detail::expects(!kind_.empty(), [] { return "tune: the transport has no kind() by which a table could know it"; });
        has_one_clock_ = options_.has_one_clock.value_or(kind_ == "thread" || kind_ == "shm" || kind_ == "self");
        sort_sizes();
        began_ = now();
        begin_point();
    }
    tuner(tuner const&) = delete;
    tuner& operator=(tuner const&) = delete;

    /// Does what can be done now without blocking. Throws what the calls throw.
    progress advance() {
        if (is_done()) return progress::done;
        progress const came_to = pending_->advance();
        if (came_to == progress::failed) pending_->wait();  // throws why
        if (came_to != progress::done) return came_to;
        go_on();
        return is_done() ? progress::done : progress::moved;
    }

    /// Blocks until done.
    void run() {
        while (!is_done()) {
            pending_->wait();
            go_on();
        }
    }

    bool is_done() const noexcept { return pending_ == nullptr; }

    /// Complete when done; the same on all ranks.
    selection_table const& result() const noexcept { return table_; }

 private:
    enum class stage { meeting, calling, agreeing };

    struct candidate {
        any_algorithm algorithm;
        std::optional<plan> call{};
        std::vector<double> seconds{};   // of timed calls, agreed
        double first = 0;                // of the first call, which is not counted unless it stays the only one
        bool is_left = false;            // hopelessly slow

        double least() const {
            return seconds.empty() ? first : (std::min)(first, *std::min_element(seconds.begin(), seconds.end()));
        }
        double median() const {
            if (seconds.empty()) return first;
            std::vector<double> sorted = seconds;
            std::sort(sorted.begin(), sorted.end());
            return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
        }
    };

    double now() const {
        if (options_.clock) return options_.clock();
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }

    void sort_sizes() {
        for (collective operation : options_.operations) {
            std::vector<std::uint64_t> counts;
            for (std::uint64_t bytes : options_.bytes)
                counts.push_back(detail::tuned_call::count_for(operation, members_.size(), bytes));
            std::sort(counts.begin(), counts.end());
            counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
            for (std::uint64_t count : counts) points_.push_back({operation, count});
        }
    }

    // ---- one size ----

    void begin_point() {
        if (point_ == points_.size() || spent_ >= options_.seconds) return finish();
        auto const [operation, count] = points_[point_];
        std::vector<any_algorithm> const tried =
            options_.candidates.empty() ? tuning_candidates(operation, members_.size()) : options_.candidates;
        candidates_.clear();
        buffers_.make_room(count);
        for (any_algorithm const& algorithm : tried)
            if (is_worth_it(algorithm, operation, count))
                candidates_.push_back({algorithm, buffers_.plan_of(members_, operation, count, algorithm)});
        if (candidates_.empty()) return next_point();
        agreed_.assign(2 * candidates_.size() + 1, 0.0);
        meet_.emplace(plan_barrier(members_));
        agree_.emplace(plan_all_reduce(members_, agreed_, maximum{}));
        must_end_ = spent_ + (options_.seconds - spent_) / static_cast<double>(points_.size() - point_);
        round_ = 0;
        begin_round();
    }

    /// What needs more scratch than two vectors and a megabyte is not tried: all candidates' scratch exists at once.
    bool is_worth_it(any_algorithm const& algorithm, collective operation, std::uint64_t count) const {
        if (!algorithm.supports(operation)) return false;
        double const bytes = static_cast<double>(count * detail::tuned_call::element_bytes);
        double const scratch = algorithm.cost_of(operation, members_.size(), bytes).scratch_bytes;
        return scratch <= (std::max)(2 * bytes, 1048576.0);
    }

    void begin_round() {
        turn_ = 0;
        while (candidates_[turn_].is_left) ++turn_;
        begin(stage::meeting);
    }

    void begin(stage next) {
        stage_ = next;
        if (next == stage::meeting) pending_ = &*meet_;
        if (next == stage::agreeing) {
            pending_ = &*agree_;
            agreed_.back() = now() - began_;
        }
        if (next == stage::calling) {
            pending_ = &*candidates_[turn_].call;
            called_ = now();
        }
        pending_->start();
    }

    /// What was pending is done.
    void go_on() {
        if (stage_ == stage::meeting) return begin(stage::calling);
        if (stage_ == stage::agreeing) return end_round();
        double const ended = now();
        agreed_[2 * turn_] = has_one_clock_ ? called_ : 0;
        agreed_[2 * turn_ + 1] = has_one_clock_ ? ended : ended - called_;
        do ++turn_;
        while (turn_ < candidates_.size() && candidates_[turn_].is_left);
        begin(turn_ < candidates_.size() ? stage::meeting : stage::agreeing);
    }

    /// A call took from when the last rank began it to when the last rank was done.
    void end_round() {
        spent_ = agreed_.back();
        double fastest = -1;
        for (std::size_t i = 0; i < candidates_.size(); ++i) {
            candidate& c = candidates_[i];
            if (!c.is_left) {
                double const took = (std::max)(agreed_[2 * i + 1] - agreed_[2 * i], 1e-9);
                if (round_ == 0) c.first = took;
                else c.seconds.push_back(took);
            }
            if (fastest < 0 || c.least() < fastest) fastest = c.least();
        }
        for (candidate& c : candidates_) c.is_left = c.is_left || (round_ >= 4 && c.least() > 4 * fastest);
        ++round_;
        if (round_ <= options_.repeat && spent_ < must_end_) begin_round();
        else end_point();
    }

    void end_point() {
        auto const [operation, count] = points_[point_];
        measured_point point{operation, kind_, members_.size(), count * detail::tuned_call::element_bytes, {}};
        for (candidate const& c : candidates_) point.times.push_back({c.algorithm, c.median()});
        std::stable_sort(point.times.begin(), point.times.end(),
                         [](timed_algorithm const& a, timed_algorithm const& b) { return a.seconds < b.seconds; });
        series_.push_back(point);
        if (options_.report) options_.report({std::move(point), point_ + 1, points_.size(), spent_});
        next_point();
    }

    void next_point() {
        ++point_;
        if (point_ == points_.size() || points_[point_].operation != points_[point_ - 1].operation) end_series();
        begin_point();
    }

    void end_series() {
        for (selection_row& row : select_rows(series_, options_.tolerance)) table_.add(std::move(row));
        for (measured_point& point : series_) table_.add(std::move(point));
        series_.clear();
    }

    void finish() {
        end_series();
        candidates_.clear();
        pending_ = nullptr;
    }

    struct sized_operation {
        collective operation;
        std::uint64_t count;
    };

    group<Transport> members_;
    tune_options options_;
    std::string kind_;
    bool has_one_clock_ = false;
    double began_ = 0;
    double spent_ = 0;                     // agreed
    double must_end_ = 0;
    double called_ = 0;
    std::vector<sized_operation> points_;
    std::size_t point_ = 0;
    std::size_t round_ = 0;
    std::size_t turn_ = 0;
    stage stage_ = stage::meeting;
    detail::tuned_call buffers_;
    std::vector<double> agreed_;           // begin and end of each candidate's call, then the time spent
    std::vector<candidate> candidates_;    // plans go before what they use
    std::optional<plan> meet_;
    std::optional<plan> agree_;
    plan* pending_ = nullptr;
    std::vector<measured_point> series_;
    selection_table table_;
};

/// Measures the algorithms of each collective at each size on these ranks, and makes a table of what is fastest.
///
/// Collective, blocking. All ranks meet before each call; algorithms take turns; a call's time is from when the last
/// rank began it to when the last was done (where ranks have different clocks: the longest on any rank), and an
/// all-reduce makes that the same on all ranks: so all get the same table. Medians of up to `repeat` calls after one
/// that is not counted; whoever never was less than four times slower than the fastest is not called again at that
/// size. Each size has an equal share of the time that is left, so it ends within `seconds` and one call of every algorithm more.
/// Elements are float, summed, from buffers of zeros, out of place; roots are rank 0. Holds two vectors of the largest
/// size, and the candidates' scratch; what needs more scratch than two vectors and a megabyte is not tried.
/// Throws what the calls throw.
template <transport Transport>
selection_table tune(group<Transport> const& members, tune_options options = {}) {
    tuner<Transport> measuring{members, std::move(options)};
    measuring.run();
    return measuring.result();
}

}  // namespace chorus
