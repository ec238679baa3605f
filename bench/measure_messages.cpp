// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "measure.hpp"
#include "cache.hpp"
#include "message_bytes.hpp"
#include "timing.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>

namespace bench {

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
