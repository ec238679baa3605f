// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "measure.hpp"
#include "cache.hpp"
#include "timing.hpp"
#include "vectors.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <stdexcept>

namespace bench {

namespace {

double seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-9; }

/// Whether sampling may end: enough samples, narrow enough or out of time. Of agreed values only: the same on all ranks.
bool is_enough(std::vector<double> samples, sampling const& asked, double elapsed) {
    if (asked.within <= 0 || elapsed >= asked.seconds) return true;
    summary const so_far = summarise(std::move(samples));
    return so_far.middle.relative_to(so_far.median) <= asked.within;
}

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

// ---- collectives ----

struct collective_call::one_root {
    one_root(endpoint& net, call_shape const& shape, std::string const& algorithm)
        : memory{shape, net.rank()}, plan{net.make_plan(shape, memory.input(), memory.output(), algorithm)} {}

    vectors memory;
    chorus::plan plan;
};

collective_call::collective_call(endpoint& net, call_shape const& shape, std::string const& algorithm,
                                 chorus::rank_id roots) {
    for (chorus::rank_id r = 0; r < roots; ++r) {
        call_shape turn = shape;
        if (roots > 1) turn.root = r;
        roots_.push_back(std::make_unique<one_root>(net, turn, algorithm));
    }
}
collective_call::~collective_call() = default;

chorus::plan& collective_call::plan() { return roots_[turn_]->plan; }
void collective_call::next_root() { turn_ = (turn_ + 1) % roots_.size(); }

void collective_call::run() {
    plan().run();
    next_root();
}
void collective_call::fill(std::uint64_t call) {
    for (auto& each : roots_) each->memory.fill(call);
}
std::uint64_t collective_call::count_wrong(std::uint64_t call) {
    return roots_[(turn_ + roots_.size() - 1) % roots_.size()]->memory.count_wrong(call, told_);
}
void collective_call::spoil() { roots_[(turn_ + roots_.size() - 1) % roots_.size()]->memory.spoil(); }
std::string collective_call::algorithm() const { return algorithm_of(roots_.front()->plan); }
void collective_call::tell(std::function<void(std::uint64_t, double, double)> told) { told_ = std::move(told); }

// ---- messages around the ring of ranks ----

namespace {

/// Call number `call` of rank `rank` sends bytes that no other rank and no neighbouring call sends.
void fill_message(std::span<std::byte> memory, std::uint64_t rank, std::uint64_t call) {
    for (std::size_t i = 0; i < memory.size(); ++i)
        memory[i] = static_cast<std::byte>((i * 7 + i / 251 + rank * 31 + call * 17 + 1) % 251);
}

std::uint64_t count_unlike(std::span<std::byte const> memory, std::uint64_t rank, std::uint64_t call) {
    std::vector<std::byte> expected(memory.size());
    fill_message(expected, rank, call);
    if (memory.empty() || std::memcmp(memory.data(), expected.data(), memory.size()) == 0) return 0;
    std::uint64_t wrong = 0;
    for (std::size_t i = 0; i < memory.size(); ++i)
        if (memory[i] != expected[i]) ++wrong;
    return wrong;
}

void clear(std::span<std::byte> memory) { std::fill(memory.begin(), memory.end(), std::byte{0xFF}); }

}  // namespace

shift_call::shift_call(endpoint& net, call_shape const& shape)
    : net_{net}, shape_{shape}, out_(shape.bytes()), in_(shape.bytes()) {}
shift_call::~shift_call() = default;

void shift_call::run() {
    net_.shift(out_, in_);
}
void shift_call::fill(std::uint64_t call) {
    fill_message(out_, net_.rank(), call);
    clear(in_);
}
std::uint64_t shift_call::count_wrong(std::uint64_t call) {
    std::uint64_t const wrong = count_unlike(in_, (net_.rank() + net_.size() - 1) % net_.size(), call);
    return (wrong + shape_.element->bytes - 1) / shape_.element->bytes;
}
void shift_call::spoil() {
    if (!in_.empty()) in_.front() = ~in_.front();
}

// ---- overlap ----

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

// ---- messages between two ranks ----

std::string_view to_string(message_pattern pattern) noexcept {
    constexpr std::string_view names[] = {"latency", "bandwidth", "bidirectional"};
    return names[static_cast<int>(pattern)];
}

namespace {

class message_series {
 public:
    message_series(endpoint& net, message_shape const& shape, sampling const& asked)
        : net_{net}, shape_{shape}, asked_{asked}, out_(shape.bytes), in_(shape.bytes * (shape.own_buffers ? shape.window : 1)) {
        if (net.size() < 2) throw std::invalid_argument{std::string{to_string(shape.pattern)} + " needs two ranks"};
        if (shape.window == 0) throw std::invalid_argument{"a window needs a message"};
        if (asked.off_cache) displaced_.emplace();
        fill_message(out_, net.rank(), 0);
    }

    message_timing run() {
        message_timing result;
        std::int64_t const started = nanoseconds_now();
        for (std::size_t warm_up = asked_.warm_up;; warm_up = 0) {
            std::vector<std::int64_t> taken = take(warm_up);
            taken.push_back(net_.rank() == 0 ? nanoseconds_now() - started : 0);
            agree(net_, taken, operation::maximum);  // rank 0 has timed, the others have nothing to add
            double const elapsed = seconds(taken.back());
            taken.pop_back();
            for (std::int64_t each : taken) result.samples.push_back(seconds(each) / messages_in_sample());
            if (is_enough(result.samples, asked_, elapsed)) break;
        }
        std::int64_t wrong[] = {static_cast<std::int64_t>(wrong_)};
        agree(net_, wrong, operation::sum);
        result.wrong = static_cast<std::uint64_t>(wrong[0]);
        std::sort(result.samples.begin(), result.samples.end());
        result.time = summarise(result.samples);
        return result;
    }

 private:
    double messages_in_sample() const {
        if (shape_.pattern == message_pattern::latency) return 2;
        return static_cast<double>(shape_.window) * (shape_.pattern == message_pattern::bidirectional ? 2 : 1);
    }

    std::vector<std::int64_t> take(std::size_t warm_up) {
        call_times const times = time_calls(
            warm_up, asked_.repeat, [&](std::size_t) { prepare(); }, [&] { exchange(); }, [&](std::size_t) { look(); });
        std::vector<std::int64_t> taken(asked_.repeat, 0);
        if (net_.rank() == 0)
            for (std::size_t i = 0; i < asked_.repeat; ++i) taken[i] = times.end[i] - times.begin[i];
        return taken;
    }

    void prepare() {
        if (asked_.check) {
            fill_message(out_, net_.rank(), number_);
            clear(in_);
        }
        if (displaced_) displaced_->displace();
        if (asked_.check || displaced_) net_.barrier();
    }

    void exchange() {
        if (shape_.pattern == message_pattern::latency) net_.ping_pong(out_, in_);
        else net_.stream(out_, in_, shape_.window, shape_.pattern == message_pattern::bidirectional);
    }

    void look() {
        bool const received = net_.rank() == 1 || (net_.rank() == 0 && shape_.pattern != message_pattern::bandwidth);
        if (received && asked_.spoil == net_.rank() && !in_.empty()) in_.back() = ~in_.back();
        if (received && asked_.check)
            for (std::size_t at = 0; at < in_.size(); at += out_.size())
                wrong_ += count_unlike(std::span{in_}.subspan(at, out_.size()), 1 - net_.rank(), number_);
        ++number_;
    }

    endpoint& net_;
    message_shape shape_;
    sampling const& asked_;
    std::vector<std::byte> out_;
    std::vector<std::byte> in_;
    std::optional<cache_displacer> displaced_;
    std::uint64_t number_ = 0;
    std::uint64_t wrong_ = 0;
};

}  // namespace

message_timing measure_messages(endpoint& net, message_shape const& shape, sampling const& asked) {
    return message_series{net, shape, asked}.run();
}

}  // namespace bench
