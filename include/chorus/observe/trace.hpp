// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/collective/observer.hpp"
#include "chorus/observe/clock_offset.hpp"
#include "chorus/observe/detail/json_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace chorus {

/// Keeps the last operations of one rank, each with the time of its start and of its end, and writes them in the trace event format of
/// Chrome and Perfetto.
///
/// One object per rank, used by one thread at a time | 160 bytes per event, allocated when it is made, nothing afterwards | 55 ns per operation, two
/// looks at the clock among them (Intel Xeon, g++ 12 -O3) | when it is full the oldest events make place for new ones and are counted in `overwritten`.
class trace final : public observer {
 public:
    explicit trace(std::size_t most_events = 4096) : ring_((std::max)(most_events, std::size_t{1})) {}

    void started(operation_record const& record, rank_id me, rank_id size) noexcept override {
        event& place = ring_[made_ % ring_.size()];
        if (made_ >= ring_.size() && place.is_open()) --open_;
        place = {record, detail::steady_nanoseconds(), 0, 0, me, size};
        place.record.state = operation_state::running;
        ++made_;
        ++open_;
    }

    void ended(operation_record const& record, operation_state outcome, std::uint64_t bytes_sent) noexcept override {
        std::int64_t const now = detail::steady_nanoseconds();
        std::size_t left = open_;
        for (std::uint64_t i = made_; left > 0 && i > overwritten(); --i) {
            event& one = ring_[(i - 1) % ring_.size()];
            if (!one.is_open()) continue;
            --left;
            if (one.record.stream != record.stream || one.record.run != record.run) continue;
            one.record.state = outcome;
            one.end = now;
            one.bytes = bytes_sent;
            --open_;
            return;
        }
    }

    /// Events kept, those under way included.
    std::size_t size() const noexcept { return static_cast<std::size_t>((std::min<std::uint64_t>)(made_, ring_.size())); }
    std::uint64_t overwritten() const noexcept { return made_ - size(); }

    void clear() noexcept {
        made_ = 0;
        open_ = 0;
    }

    /// Writes a JSON array: one complete event per operation, in the order of their starts, with the rank as process; operations that overlap without
    /// one holding the other are put on different threads of it. What is under way lasts until now, its outcome being "running".
    /// `offset` moves the times to the clock of rank 0.
    void write(std::ostream& out, rank_id rank, clock_offset const& offset = {}) const {
        out << R"([{"name":"process_name","ph":"M","pid":)" << rank << R"(,"tid":0,"args":{"name":"rank )" << rank << R"("}})";
        if (overwritten() > 0)
            out << R"(,)" << '\n' << R"({"name":"process_labels","ph":"M","pid":)" << rank << R"(,"tid":0,"args":{"labels":")"
                << overwritten() << R"( earlier operations are not shown"}})";
        std::int64_t const now = detail::steady_nanoseconds();
        std::vector<span_on_lane> lanes;
        for (std::uint64_t i = overwritten(); i < made_; ++i) {
            event const& one = ring_[i % ring_.size()];
            std::int64_t const end = one.is_open() ? now : one.end;
            std::size_t const lane = lane_for(lanes, one.begin, end);
            out << ",\n" << json_of(one, end, rank, lane, offset);
        }
        out << "]\n";
    }

    /// Several ranks' arrays as one.
    static std::string merge(std::span<std::string const> arrays) {
        std::string all;
        for (std::size_t i = 0; i < arrays.size(); ++i) {
            constexpr std::string_view blank = " \t\r\n";
            std::size_t const first = arrays[i].find_first_not_of(blank);
            std::size_t const last = arrays[i].find_last_not_of(blank);
            detail::expects(first < last && last != std::string::npos && arrays[i][first] == '[' && arrays[i][last] == ']', [&] {
                return "trace::merge: text " + std::to_string(i) + " of " + std::to_string(arrays.size()) + " is not a JSON array";
            });
            std::string_view const inside = std::string_view{arrays[i]}.substr(first + 1, last - first - 1);
            if (inside.find_first_not_of(blank) == std::string_view::npos) continue;
            all += all.empty() ? "" : ",\n";
            all += inside;
        }
        return '[' + all + "]\n";
    }

 private:
    struct event {
        operation_record record;
        std::int64_t begin = 0;  // nanoseconds of the steady clock
        std::int64_t end = 0;
        std::uint64_t bytes = 0;
        rank_id me = 0;
        rank_id size = 0;

        bool is_open() const noexcept { return record.state == operation_state::running; }
    };
    static_assert(sizeof(event) == 160);

    /// What a lane holds: the ends of events that hold one another, the innermost last.
    using span_on_lane = std::vector<std::int64_t>;

    static std::size_t lane_for(std::vector<span_on_lane>& lanes, std::int64_t begin, std::int64_t end) {
        for (std::size_t lane = 0;; ++lane) {
            if (lane == lanes.size()) lanes.emplace_back();
            span_on_lane& ends = lanes[lane];
            while (!ends.empty() && ends.back() <= begin) ends.pop_back();
            if (!ends.empty() && ends.back() < end) continue;
            ends.push_back(end);
            return lane;
        }
    }

    static char const* name_of(operation_state outcome) noexcept {
        return outcome == operation_state::running ? "running" : outcome == operation_state::done ? "done" : "failed";
    }

    static std::string json_of(event const& one, std::int64_t end, rank_id rank, std::size_t lane, clock_offset const& offset) {
        operation_record const& r = one.record;
        auto const number = [](char const* name, std::uint64_t value) {
            return std::string{",\""} + name + "\":" + std::to_string(value);
        };
        std::string text = "{\"name\":" + detail::json_text(r.operation.data()) + R"(,"cat":"collective","ph":"X")" +
                           number("pid", rank) + number("tid", lane) +
                           ",\"ts\":" + detail::json_microseconds(one.begin + offset.to_first.count()) +
                           ",\"dur\":" + detail::json_microseconds(end - one.begin) + ",\"args\":{\"outcome\":\"" +
                           name_of(r.state) + "\",\"algorithm\":" + detail::json_text(r.algorithm.data()) +
                           ",\"element\":" + detail::json_text(r.element.data()) + number("count", r.count) +
                           number("bytes", one.bytes) + number("sequence", r.sequence) + number("run", r.run) +
                           number("group", r.group) + number("rank", one.me) + number("size", one.size);
        if (r.root != nobody) text += number("root", r.root);
        return text + "}}";
    }

    std::vector<event> ring_;
    std::uint64_t made_ = 0;
    std::size_t open_ = 0;
};

}  // namespace chorus
