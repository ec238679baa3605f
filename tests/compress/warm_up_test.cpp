// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/warm_up.hpp"

#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/top_k.hpp"
#include "suites/compressor_suite.hpp"

#include <cstddef>
#include <limits>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::top_k;
using chorus::warm_up;

namespace {

static_assert(chorus::ratio_compressor<top_k> && !chorus::ratio_compressor<chorus::half_cast>);
static_assert(chorus::stateful_compressor<warm_up<top_k>>);

std::size_t entries_sent(auto& c, std::size_t count, std::uint64_t step) {
    return (suites::encoded(c, suites::drawn(count, step)).size() - 16) / 8;
}

}  // namespace

TEST_CASE("warm_up: all laws of a compressor") {
    CHECK(warm_up<top_k>::name == "warm_up{top_k}");
    suites::compressor_suite(warm_up{top_k{0.1}, {.steps_per_stage = 1}}, {.is_large_tried = false});
}

TEST_CASE("the ratio falls by the factor from stage to stage and ends at the compressor's own") {
    warm_up warming{top_k{0.001}, {.first_ratio = 0.25, .factor = 0.25, .steps_per_stage = 3}};
    constexpr std::size_t expected[] = {2500, 2500, 2500, 625, 625, 625, 156, 156, 156, 39, 39, 39, 10, 10, 10, 10, 10};
    std::uint64_t step = 0;
    for (std::size_t each : expected) {
        CHECK(warming.step() == step);
        CHECK(warming.max_wire_bytes(10000) == 16 + 8 * each);
        CHECK(warming.promise(10000).contraction == doctest::Approx(static_cast<double>(each) / 10000));
        CHECK(entries_sent(warming, 10000, step++) == each);
    }
    CHECK(warming.ratio_at(std::numeric_limits<chorus::step_id>::max()) == 0.001);
    warm_up level{top_k{0.5}, {.first_ratio = 0.1}};
    CHECK(entries_sent(level, 100, 1) == 50);
}

TEST_CASE("a step is a message that was made: one that is refused does not count") {
    warm_up warming{top_k{0.01}, {.steps_per_stage = 1}};
    CHECK(suites::error_of([&] { warming.encode(suites::drawn(100, 1), {}); }).has_value());
    warming.inner.on_nonfinite = chorus::nonfinite::refuse;
    CHECK(suites::error_of([&] { suites::encoded(warming, {std::numeric_limits<float>::infinity()}); }).has_value());
    CHECK(warming.step() == 0);
    CHECK(entries_sent(warming, 100, 1) == 25);
    CHECK(warming.step() == 1);
}

TEST_CASE("around it, error feedback keeps what is left out, more in each stage") {
    chorus::error_feedback feedback{warm_up{top_k{0.01}, {.steps_per_stage = 2}}};
    std::size_t kept_before = 0;
    for (std::uint64_t stage = 0; stage < 3; ++stage) {
        entries_sent(feedback, 400, stage);
        entries_sent(feedback, 400, stage);
        std::size_t kept = 0;
        for (float value : feedback.residual()) kept += value != 0;
        CHECK(kept > kept_before);
        kept_before = kept;
    }
}

TEST_CASE("what is not sent stays in the vector, and the step counts") {
    warm_up in_one_pass{top_k{0.01}, {.steps_per_stage = 1}}, in_two{top_k{0.01}, {.steps_per_stage = 1}};
    static_assert(chorus::rest_keeping_compressor<warm_up<top_k>>);
    for (std::uint64_t step = 0; step < 4; ++step) {
        auto const x = suites::drawn(400, step);
        auto rest = x, sum = x;
        suites::message_bytes wire(in_one_pass.max_wire_bytes(400));
        wire.resize(in_one_pass.encode_rest(rest, wire));
        CHECK(wire == suites::encoded(in_two, x));
        sum = rest;
        in_one_pass.decode_add(wire, sum);
        CHECK((sum == x && rest != x));
    }
}

TEST_CASE("EFB-7: the step is saved; another schedule is refused") {
    warm_up whole{top_k{0.01}, {.steps_per_stage = 2}};
    for (std::uint64_t step = 0; step < 3; ++step) entries_sent(whole, 400, step);
    suites::message_bytes saved(whole.state_bytes());
    whole.save_state(saved);
    warm_up restored{top_k{0.01}, {.steps_per_stage = 2}};
    restored.restore_state(saved);
    for (std::uint64_t step = 3; step < 9; ++step) CHECK(entries_sent(restored, 400, step) == entries_sent(whole, 400, step));
    for (auto other : {warm_up{top_k{0.02}, {.steps_per_stage = 2}}, warm_up{top_k{0.01}, {.steps_per_stage = 3}},
                       warm_up{top_k{0.01}, {.factor = 0.5, .steps_per_stage = 2}}})
        CHECK(suites::unlike(errc::corrupt, {"its schedule is another"}, [&] { other.restore_state(saved); }) == "");
}

TEST_CASE("schedules that are none are refused") {
    constexpr double no = std::numeric_limits<double>::quiet_NaN();
    for (chorus::warm_up_options const& wrong : {chorus::warm_up_options{.first_ratio = 0}, {.first_ratio = 1.5}, {.first_ratio = no},
                                                 {.factor = 0}, {.factor = 1}, {.factor = no}, {.steps_per_stage = 0}})
        CHECK(suites::unlike(errc::invalid_argument, {"warm_up{top_k}"}, [&] { warm_up{top_k{}, wrong}; }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"fixed number of entries"}, [] { warm_up{top_k::of(3)}; }) == "");
}
