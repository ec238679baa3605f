// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "measure.hpp"
#include "cache.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

namespace bench {

bool is_enough(std::vector<double> samples, sampling const& asked, double elapsed) {
    if (asked.within <= 0 || elapsed >= asked.seconds) return true;
    summary const so_far = summarise(std::move(samples));
    return so_far.middle.relative_to(so_far.median) <= asked.within;
}

namespace {

/// The samples of one call.
class series {
 public:
    series(endpoint& net, measured_call& call, sampling const& asked) : net_{net}, call_{call}, asked_{asked} {
        if (asked.batch == 0 || asked.repeat == 0) throw std::invalid_argument{"nothing to measure: no call, or no sample"};
        if (asked.off_cache) displaced_.emplace();
        if (!checks_each_call()) call_.fill(0);
    }

    /// So many more samples on this rank, after calls that do not count.
    void take(std::size_t warm_up, std::size_t repeat) {
        call_times const times = time_calls(
            warm_up, repeat, [&](std::size_t) { prepare(); }, [&] { run(); }, [&](std::size_t) { look(); });
        begin_.insert(begin_.end(), times.begin.begin(), times.begin.end());
        end_.insert(end_.end(), times.end.begin(), times.end.end());
    }

    /// Puts the ranks' samples together. Collective.
    void merge() {
        std::size_t const many = begin_.size();
        std::vector<std::int64_t> most;
        for (std::size_t i = 0; i < many; ++i) {
            std::int64_t const own = end_[i] - begin_[i];
            most.insert(most.end(), {begin_[i], end_[i], -end_[i], own, -own});
            own_ += seconds(own);
        }
        most.push_back(nanoseconds_now() - started_);
        agree(net_, most, operation::maximum);
        bool const by_clock = net_.shares_clock() && asked_.at == meeting::before;
        for (std::size_t i = 0; i < many; ++i) {
            std::int64_t const* const m = most.data() + 5 * i;
            samples_.push_back(seconds(by_clock ? m[1] - m[0] : m[3]) / static_cast<double>(asked_.batch));
            skews_.push_back(seconds(net_.shares_clock() ? m[1] + m[2] : m[3] + m[4]));
        }
        elapsed_ = seconds(most.back());
        begin_.clear();
        end_.clear();
    }

    bool is_enough() const { return bench::is_enough(samples_, asked_, elapsed_); }

    /// Collective.
    timing finish() {
        if (asked_.check && !checks_each_call())
            for (std::size_t i = 0; i < asked_.check_calls; ++i) check_alone();
        timing result;
        std::vector<std::int64_t> sums(net_.size() + 1, 0);
        double const own = own_ / static_cast<double>(samples_.size() * asked_.batch);
        sums[net_.rank()] = static_cast<std::int64_t>(std::llround(own * 1e12));
        sums.back() = static_cast<std::int64_t>(wrong_);
        agree(net_, sums, operation::sum);
        result.wrong = static_cast<std::uint64_t>(sums.back());
        for (chorus::rank_id r = 0; r < net_.size(); ++r) result.own.push_back(static_cast<double>(sums[r]) * 1e-12);
        result.slowest =
            static_cast<chorus::rank_id>(std::max_element(result.own.begin(), result.own.end()) - result.own.begin());
        result.between_ranks = summarise(result.own);
        result.skew = summarise(skews_);
        std::sort(samples_.begin(), samples_.end());
        result.time = summarise(samples_);
        result.samples = std::move(samples_);
        return result;
    }

 private:
    bool checks_each_call() const { return asked_.check && asked_.batch == 1; }

    void prepare() {
        if (checks_each_call()) {
            for (std::size_t i = 0; i < asked_.rehearsals; ++i) {
                call_.fill(number_);
                call_.run();
            }
            call_.fill(number_);
        }
        if (displaced_) displaced_->displace();
        if (asked_.at == meeting::before) net_.barrier();
    }

    void run() {
        for (std::size_t i = 0; i < asked_.batch; ++i) {
            call_.run();
            if (asked_.barrier_in_batch) net_.barrier();
        }
    }

    void look() {
        if (asked_.at == meeting::after) net_.barrier();
        if (asked_.spoil == net_.rank()) call_.spoil();
        if (checks_each_call()) wrong_ += call_.count_wrong(number_);
        ++number_;
    }

    void check_alone() {
        call_.fill(number_);
        net_.barrier();
        call_.run();
        if (asked_.spoil == net_.rank()) call_.spoil();
        wrong_ += call_.count_wrong(number_);
        ++number_;
    }

    endpoint& net_;
    measured_call& call_;
    sampling const& asked_;
    std::optional<cache_displacer> displaced_;
    std::vector<std::int64_t> begin_;
    std::vector<std::int64_t> end_;
    std::vector<double> samples_;
    std::vector<double> skews_;
    double own_ = 0;
    double elapsed_ = 0;
    std::int64_t started_ = nanoseconds_now();
    std::uint64_t number_ = 0;
    std::uint64_t wrong_ = 0;
};

}  // namespace

timing measure(endpoint& net, measured_call& call, sampling const& asked) {
    series taken{net, call, asked};
    taken.take(asked.warm_up, asked.repeat);
    for (taken.merge(); !taken.is_enough(); taken.merge()) taken.take(0, asked.repeat);
    return taken.finish();
}

paired_timing measure_pair(endpoint& net, measured_call& first, measured_call& second, sampling const& asked) {
    series one{net, first, asked};
    series other{net, second, asked};
    for (std::size_t warm_up = asked.warm_up;; warm_up = 0) {
        for (std::size_t i = 0; i < asked.repeat; ++i) {
            one.take(i == 0 ? warm_up : 0, 1);
            other.take(i == 0 ? warm_up : 0, 1);
        }
        one.merge();
        other.merge();
        if (one.is_enough() && other.is_enough()) break;
    }
    timing mine = one.finish();
    return {std::move(mine), other.finish()};
}

}  // namespace bench
