// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "measure.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bench {

namespace {

/// Floating-point work on a small array that takes a time that was calibrated.
class dummy_computation {
 public:
    explicit dummy_computation(std::size_t length) : values_((std::max)(length, std::size_t{1}), 1.0) {}

    /// So that `run(1)` takes as long as that, as well as passes through the array can.
    void calibrate(double target) {
        std::size_t passes = 16;
        double took = 0;
        while ((took = time_of(passes)) < 2e-4) passes *= 4;
        for (int again = 0; again < 4; ++again) took = (std::min)(took, time_of(passes));
        passes_ = static_cast<double>(passes) * target / took;
    }

    /// A part of the whole.
    void run(double part) { pass(static_cast<std::size_t>(std::llround(passes_ * part))); }

 private:
    void pass(std::size_t times) {
        for (std::size_t t = 0; t < times; ++t)
            for (double& value : values_) value = value * 0.999 + 0.001;
        sink_ = values_.front();
    }
    double time_of(std::size_t passes) {
        std::int64_t const begin = nanoseconds_now();
        pass(passes);
        return seconds(nanoseconds_now() - begin);
    }

    std::vector<double> values_;
    double passes_ = 0;
    volatile double sink_ = 0;
};

/// What one overlapped call spent on what, on this rank.
struct overlap_parts {
    double overall = 0;
    double start = 0;
    double compute = 0;
    double advance = 0;
    double wait = 0;
};

overlap_parts run_overlapped(collective_call& call, dummy_computation& work, std::size_t advances) {
    overlap_parts parts;
    chorus::plan& plan = call.plan();
    std::int64_t const begin = nanoseconds_now();
    plan.start();
    std::int64_t last = nanoseconds_now();
    parts.start = seconds(last - begin);
    double const part = 1.0 / static_cast<double>(advances + 1);
    for (std::size_t i = 0; i <= advances; ++i) {
        work.run(part);
        std::int64_t const computed = nanoseconds_now();
        parts.compute += seconds(computed - last);
        last = computed;
        if (i == advances) break;
        plan.advance();
        last = nanoseconds_now();
        parts.advance += seconds(last - computed);
    }
    plan.wait();
    std::int64_t const end = nanoseconds_now();
    parts.wait = seconds(end - last);
    parts.overall = seconds(end - begin);
    call.next_root();
    return parts;
}

}  // namespace

overlap_timing measure_overlap(endpoint& net, collective_call& call, sampling const& asked, std::size_t advances,
                               std::size_t array) {
    overlap_timing result;
    result.pure = measure(net, call, asked);
    dummy_computation work{array};
    work.calibrate(result.pure.between_ranks.mean);
    overlap_parts sum;
    std::vector<std::int64_t> longest;
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < asked.warm_up + asked.repeat; ++i) {
        if (asked.check) call.fill(i);
        net.barrier();
        overlap_parts const parts = run_overlapped(call, work, advances);
        if (asked.spoil == net.rank()) call.spoil();
        if (asked.check) wrong += call.count_wrong(i);
        if (i < asked.warm_up) continue;
        sum.overall += parts.overall;
        sum.start += parts.start;
        sum.compute += parts.compute;
        sum.advance += parts.advance;
        sum.wait += parts.wait;
        longest.push_back(std::llround(parts.overall * 1e9));
    }
    agree(net, longest, operation::maximum);
    for (std::int64_t each : longest) result.samples.push_back(seconds(each));
    std::sort(result.samples.begin(), result.samples.end());
    double const share = 1.0 / static_cast<double>(asked.repeat * net.size());
    std::int64_t sums[] = {std::llround(sum.overall * 1e12), std::llround(sum.start * 1e12), std::llround(sum.compute * 1e12),
                           std::llround(sum.advance * 1e12), std::llround(sum.wait * 1e12), static_cast<std::int64_t>(wrong)};
    agree(net, sums, operation::sum);
    auto const mean = [&](std::int64_t total) { return static_cast<double>(total) * 1e-12 * share; };
    result.overall = mean(sums[0]);
    result.start = mean(sums[1]);
    result.compute = mean(sums[2]);
    result.advance = mean(sums[3]);
    result.wait = mean(sums[4]);
    result.wrong = result.pure.wrong + static_cast<std::uint64_t>(sums[5]);
    double const pure = result.pure.between_ranks.mean;
    if (pure > 0) result.overlap = std::clamp(100 - 100 * (result.overall - result.compute) / pure, 0.0, 100.0);
    return result;
}

}  // namespace bench
