// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/observe/trace.hpp"

#include "chorus/chorus.hpp"
#include "chorus/transport/thread.hpp"
#include "suites/watchdog.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include <doctest/doctest.h>

using chorus::operation_record;
using chorus::operation_state;
using chorus::rank_id;
using chorus::trace;
using nlohmann::json;

namespace {

operation_record record_of(std::string_view algorithm, std::uint64_t stream, std::uint32_t run = 1) {
    operation_record record;
    record.stream = stream;
    record.run = run;
    record.state = operation_state::running;
    std::copy_n("all_reduce", 10, record.operation.data());
    std::copy_n(algorithm.data(), (std::min)(algorithm.size(), record.algorithm.size() - 1), record.algorithm.data());
    return record;
}

json written(trace const& kept, rank_id rank, chorus::clock_offset const& offset = {}) {
    std::ostringstream out;
    kept.write(out, rank, offset);
    return json::parse(out.str());
}

std::vector<json> operations_of(json const& events) {
    std::vector<json> all;
    for (json const& one : events)
        if (one.at("ph") == "X") all.push_back(one);
    return all;
}

std::int64_t nanoseconds(json const& microseconds) { return std::llround(microseconds.get<double>() * 1000); }

/// On each thread of each process of the trace, two events hold one another or do not meet.
void check_nesting(std::vector<json> const& events) {
    for (std::size_t i = 0; i < events.size(); ++i)
        for (std::size_t j = i + 1; j < events.size(); ++j) {
            json const& a = events[i];
            json const& b = events[j];
            if (a.at("pid") != b.at("pid") || a.at("tid") != b.at("tid")) continue;
            std::int64_t const a_begin = nanoseconds(a.at("ts")), a_end = a_begin + nanoseconds(a.at("dur"));
            std::int64_t const b_begin = nanoseconds(b.at("ts")), b_end = b_begin + nanoseconds(b.at("dur"));
            bool const is_apart = a_end <= b_begin || b_end <= a_begin;
            bool const is_held = (a_begin <= b_begin && b_end <= a_end) || (b_begin <= a_begin && a_end <= b_end);
            CHECK((is_apart || is_held));
        }
}

}  // namespace

TEST_CASE("an empty trace is an array that names its rank") {
    json const events = written(trace{}, 5);
    REQUIRE(events.size() == 1);
    CHECK(events[0].at("pid") == 5);
    CHECK(events[0].at("args").at("name") == "rank 5");
}

TEST_CASE("operations that overlap without nesting lie on different threads, others on one") {
    trace kept;
    kept.started(record_of("a", 1), 0, 1);
    kept.started(record_of("b", 2), 0, 1);
    kept.ended(record_of("b", 2), operation_state::done, 0);  // inside a
    kept.started(record_of("c", 3), 0, 1);
    kept.ended(record_of("a", 1), operation_state::done, 8);
    kept.ended(record_of("c", 3), operation_state::failed, 0);  // overlaps a
    kept.started(record_of("d", 4), 0, 1);                      // still runs
    std::vector<json> const events = operations_of(written(kept, 0));
    REQUIRE(events.size() == 4);
    check_nesting(events);
    CHECK(events[0].at("tid") == 0);
    CHECK(events[1].at("tid") == 0);
    CHECK(events[2].at("tid") == 1);
    CHECK(events[3].at("tid") == 0);
    CHECK(events[0].at("args").at("outcome") == "done");
    CHECK(events[0].at("args").at("bytes") == 8);
    CHECK(events[2].at("args").at("outcome") == "failed");
    CHECK(events[3].at("args").at("outcome") == "running");
}

TEST_CASE("any mix of starts and ends nests, and every end finds its start") {
    for (int trial = 0; trial < 50; ++trial) {
        trace kept{40};
        std::vector<std::uint64_t> open;
        std::uint64_t next = 0, ended = 0;
        for (int i = 0; i < 60; ++i) {
            std::uint64_t const draw = chorus::counter_random::mix(static_cast<std::uint64_t>(trial * 1000 + i));
            if (open.empty() || draw % 2 == 0) {
                open.push_back(next);
                kept.started(record_of("x", next++), 0, 1);
            } else {
                std::size_t const which = (draw >> 8) % open.size();
                kept.ended(record_of("x", open[which]), operation_state::done, open[which]);
                open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
                ++ended;
            }
        }
        std::vector<json> const events = operations_of(written(kept, 0));
        CHECK(events.size() == kept.size());
        CHECK(kept.size() + kept.overwritten() == next);
        check_nesting(events);
        for (std::size_t i = 0; i < events.size(); ++i) {
            std::uint64_t const stream = kept.overwritten() + i;
            bool const is_open = std::find(open.begin(), open.end(), stream) != open.end();
            CHECK(events[i].at("args").at("outcome") == (is_open ? "running" : "done"));
            CHECK(events[i].at("args").at("bytes") == (is_open ? 0 : stream));
            CHECK(nanoseconds(events[i].at("dur")) >= 0);
        }
    }
}

TEST_CASE("a full ring keeps the newest and says how many are gone") {
    for (std::size_t room : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{64}}) {
        trace kept{room};
        for (std::uint64_t i = 0; i < 10; ++i) {
            kept.started(record_of("ring", i), 0, 2);
            kept.ended(record_of("ring", i), operation_state::done, i);
        }
        std::size_t const expected = (std::min)((std::max)(room, std::size_t{1}), std::size_t{10});
        CHECK(kept.size() == expected);
        CHECK(kept.overwritten() == 10 - expected);
        json const all = written(kept, 0);
        std::vector<json> const events = operations_of(all);
        REQUIRE(events.size() == expected);
        for (std::size_t i = 0; i < expected; ++i) CHECK(events[i].at("args").at("bytes") == 10 - expected + i);
        bool const says_so = all.dump().find(std::to_string(10 - expected) + " earlier") != std::string::npos;
        CHECK(says_so == (expected < 10));
        kept.clear();
        CHECK(kept.size() == 0);
        kept.ended(record_of("ring", 9), operation_state::done, 0);  // began before: not kept
        CHECK(operations_of(written(kept, 0)).empty());
    }
}

TEST_CASE("names are escaped") {
    trace kept;
    for (std::string_view name : {R"(quo"te\)", "line\nbreak\x01", "cut \xE2\x82"}) {
        kept.started(record_of(name, 1), 0, 1);
        kept.ended(record_of(name, 1), operation_state::done, 0);
    }
    std::vector<json> const events = operations_of(written(kept, 0));
    REQUIRE(events.size() == 3);
    CHECK(events[0].at("args").at("algorithm") == R"(quo"te\)");
    CHECK(events[1].at("args").at("algorithm") == "line\nbreak\x01");
    CHECK(events[2].at("args").at("algorithm") == "cut \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST_CASE("an offset moves all times alike") {
    trace kept;
    kept.started(record_of("a", 1), 0, 1);
    kept.ended(record_of("a", 1), operation_state::done, 0);
    json const plain = operations_of(written(kept, 0))[0];
    json const moved = operations_of(written(kept, 0, {std::chrono::milliseconds{-3}, {}}))[0];
    CHECK(nanoseconds(plain.at("ts")) - nanoseconds(moved.at("ts")) == 3'000'000);
    CHECK(plain.at("dur") == moved.at("dur"));
}

TEST_CASE("merging joins arrays and refuses what is none") {
    std::vector<std::string> const arrays{"[1, 2]\n", " [ ]", "[\"]\"]"};
    CHECK(json::parse(trace::merge(arrays)) == json::array({1, 2, "]"}));
    CHECK(json::parse(trace::merge({})) == json::array());
    for (std::string const& wrong : {std::string{}, std::string{"{}"}, std::string{"["}, std::string{"[1"}, std::string{"  "}})
        CHECK_THROWS_AS(trace::merge(std::array<std::string, 1>{wrong}), chorus::error);
}

TEST_CASE("real operations, those of subgroups too, with what they sent and how they ended") {
    suites::watchdog const guard{20};
    constexpr rank_id size = 3;
    std::array<std::string, size> texts;
    std::array<std::uint64_t, size> sent{};
    chorus::thread_fleet{size}.run([&](chorus::thread_transport& net) {
        trace kept;
        chorus::group const world = chorus::group{net}.observed_by(kept);
        std::vector<std::int32_t> v(100, 1);
        chorus::plan sum = chorus::plan_all_reduce(world, std::span{v}, chorus::sum{}, chorus::ring{});
        for (int i = 0; i < 3; ++i) sum.run();
        chorus::broadcast(world, v, 2);
        chorus::barrier(world.split_into(2));
        sent[net.rank()] = sum.bytes_sent();
        std::ostringstream out;
        kept.write(out, net.rank());
        texts[net.rank()] = out.str();
    });
    std::vector<json> const all = operations_of(json::parse(trace::merge(texts)));
    CHECK(all.size() == 5 * size);
    check_nesting(all);
    for (rank_id r = 0; r < size; ++r) {
        std::vector<json> const events = operations_of(json::parse(texts[r]));
        REQUIRE(events.size() == 5);
        for (std::size_t i = 0; i < 5; ++i) {
            CHECK(events[i].at("pid") == r);
            CHECK(nanoseconds(events[i].at("dur")) >= 0);
            CHECK(events[i].at("args").at("outcome") == "done");
            CHECK(events[i].at("args").at("run") == (i < 3 ? i + 1 : 1));
            if (i < 3) CHECK(events[i].at("args").at("bytes") == sent[r]);
            if (i > 0) CHECK(nanoseconds(events[i].at("ts")) >= nanoseconds(events[i - 1].at("ts")) + nanoseconds(events[i - 1].at("dur")));
        }
        CHECK(events[0].at("name") == "all_reduce");
        CHECK(events[0].at("args").at("algorithm") == "ring");
        CHECK(events[0].at("args").at("count") == 100);
        CHECK(events[3].at("name") == "broadcast");
        CHECK(events[3].at("args").at("root") == 2);
        CHECK(events[4].at("name") == "barrier");
        CHECK(events[4].at("args").at("size") == (r < 2 ? 2 : 1));
        CHECK(events[4].at("args").at("group") != events[3].at("args").at("group"));
    }
}

TEST_CASE("a failed operation is in the trace") {
    suites::watchdog const guard{20};
    std::array<std::string, 2> outcomes;
    chorus::thread_fleet{2}.run([&](chorus::thread_transport& net) {
        trace kept;
        chorus::group const world = chorus::group{net}.observed_by(kept);
        std::vector<std::int32_t> v(net.rank() + 1);
        try {
            chorus::all_reduce(world, std::span{v}, chorus::sum{});
        } catch (chorus::error const& why) {
            CHECK(why.code() == chorus::errc::mismatch);
        }
        std::ostringstream out;
        kept.write(out, net.rank());
        std::vector<json> const events = operations_of(json::parse(out.str()));
        if (events.size() == 1) outcomes[net.rank()] = events[0].at("args").at("outcome");
    });
    for (std::string const& outcome : outcomes) CHECK(outcome == "failed");
}
