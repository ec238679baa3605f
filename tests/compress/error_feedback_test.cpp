// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/error_feedback.hpp"

#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "suites/compressor_suite.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::approximation;
using chorus::errc;
using chorus::error_feedback;
using chorus::nonfinite;
using chorus::top_k;
using suites::floats;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

template <class C>
floats sent_by(C& c, floats const& x) {
    auto const wire = suites::encoded(c, x);
    return suites::decoded(c, wire, x.size());
}

floats copy_of(std::span<float const> values) { return floats(values.begin(), values.end()); }

/// Integers from -50 to 50: sums of a few are exact.
floats integers(std::size_t count, std::uint64_t seed) {
    floats x = suites::drawn(count, seed);
    for (float& v : x) v = std::round(v * 50);
    return x;
}

void add(floats& to, std::span<float const> values) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += values[i];
}

/// What top_k leaves of a vector, found by decoding.
struct rest_keeping : top_k {
    using top_k::top_k;
    std::size_t encode_rest(std::span<float> vector, std::span<std::byte> wire) {
        std::size_t const used = encode(vector, wire);
        floats sent(vector.size());
        decode(wire.first(used), sent);
        for (std::size_t i = 0; i < sent.size(); ++i) vector[i] -= sent[i];
        return used;
    }
};
static_assert(chorus::rest_keeping_compressor<rest_keeping> && chorus::rest_keeping_compressor<top_k>);
static_assert(!chorus::rest_keeping_compressor<chorus::uncompressed>);
static_assert(chorus::stateful_compressor<error_feedback<top_k>> && !chorus::linear_compressor<error_feedback<top_k>>);
static_assert(chorus::linear_compressor<error_feedback<chorus::uncompressed>>);

}  // namespace

TEST_CASE("error_feedback: all laws of a compressor") {
    CHECK(error_feedback<top_k>::name == "error_feedback{top_k}");
    suites::compressor_suite(error_feedback{top_k{0.1}}, {.is_large_tried = false});
}

TEST_CASE("EFB-1: what top-1 leaves out is sent later; without error feedback it never is") {
    floats const x{1.0f, 0.4f, 0.3f, 0.2f};
    for (std::size_t ranks : {std::size_t{1}, std::size_t{3}}) {
        std::vector<error_feedback<top_k>> feedback(ranks, error_feedback{top_k::of(1)});
        std::vector<top_k> alone(ranks, top_k::of(1));
        floats total(4), total_alone(4);
        int first_sent[4] = {};
        for (int step = 1; step <= 40; ++step)
            for (std::size_t p = 0; p < ranks; ++p) {
                floats const sent = sent_by(feedback[p], x);
                for (std::size_t i = 0; i < 4; ++i)
                    if (sent[i] != 0 && first_sent[i] == 0) first_sent[i] = step;
                add(total, sent);
                add(total_alone, sent_by(alone[p], x));
            }
        for (auto const& each : feedback) add(total, each.residual());
        for (std::size_t i = 0; i < 4; ++i) {
            constexpr int expected[] = {1, 3, 5, 9};
            CHECK(first_sent[i] == expected[i]);
            CHECK(total[i] / static_cast<float>(ranks) == doctest::Approx(40.0 * static_cast<double>(x[i])).epsilon(1e-5));
        }
        CHECK(total_alone == floats{40.0f * static_cast<float>(ranks), 0, 0, 0});
    }
}

TEST_CASE("of a selection nothing is lost, to the bit, and encode_rest keeps the same") {
    error_feedback feedback{top_k{0.05}};
    error_feedback in_one_pass{rest_keeping{0.05}};
    floats came(501), sent(501);
    for (std::uint64_t step = 0; step < 60; ++step) {
        floats const x = integers(501, step);
        floats const message = sent_by(feedback, x);
        CHECK(message == sent_by(in_one_pass, x));
        CHECK(copy_of(feedback.residual()) == copy_of(in_one_pass.residual()));
        add(came, x);
        add(sent, message);
        floats both = sent;
        add(both, feedback.residual());
        REQUIRE(both == came);
    }
    CHECK(sent != came);
}

TEST_CASE("a residual that decays is multiplied before it is added") {
    error_feedback feedback{top_k::of(1), {.decay = 0.5f}};
    CHECK(sent_by(feedback, {8, 4, -2}) == floats{8, 0, 0});
    CHECK(sent_by(feedback, {0, 1, 0}) == floats{0, 3, 0});
    CHECK(copy_of(feedback.residual()) == floats{0, 0, -1});
    for (float decay : {-0.1f, 1.1f, not_a_number})
        CHECK(suites::unlike(errc::invalid_argument, {"decay"}, [&] { error_feedback{top_k{}, {.decay = decay}}; }) == "");
}

TEST_CASE("EFB-4: another count is refused until the residual is reset") {
    error_feedback feedback{top_k{0.1}};
    sent_by(feedback, integers(100, 1));
    sent_by(feedback, integers(100, 2));
    floats const before = copy_of(feedback.residual());
    for (std::size_t count : {std::size_t{60}, std::size_t{60}, std::size_t{200}, std::size_t{0}})
        CHECK(suites::unlike(errc::invalid_argument, {"error_feedback{top_k}", "100 elements", "was given " + std::to_string(count)},
                             [&] { sent_by(feedback, integers(count, 3)); }) == "");
    CHECK(copy_of(feedback.residual()) == before);
    feedback.reset();
    error_feedback fresh{top_k{0.1}};
    for (std::uint64_t step = 0; step < 3; ++step) CHECK(sent_by(feedback, integers(60, step)) == sent_by(fresh, integers(60, step)));
}

TEST_CASE("EFB-7: a run that was saved and restored goes on with the same bits; another size or compressor is refused") {
    auto run = [](auto& feedback, std::uint64_t from, std::uint64_t to) {
        std::vector<suites::message_bytes> sent;
        for (std::uint64_t step = from; step < to; ++step) sent.push_back(suites::encoded(feedback, suites::drawn(200, step)));
        return sent;
    };
    error_feedback whole{top_k{0.02}};
    run(whole, 0, 10);
    suites::message_bytes saved(whole.state_bytes());
    whole.save_state(saved);
    error_feedback restored{top_k{0.02}};
    restored.restore_state(saved);
    CHECK(run(whole, 10, 20) == run(restored, 10, 20));

    error_feedback other_size{top_k{0.02}};
    suites::encoded(other_size, suites::drawn(100, 1));
    floats const before = copy_of(other_size.residual());
    CHECK(suites::unlike(errc::corrupt, {"200 elements, this one 100"}, [&] { other_size.restore_state(saved); }) == "");
    CHECK(copy_of(other_size.residual()) == before);
    error_feedback other_compressor{chorus::half_cast{}};
    CHECK(suites::unlike(errc::corrupt, {"another compressor"}, [&] { other_compressor.restore_state(saved); }) == "");
    error_feedback other_decay{top_k{0.02}, {.decay = 0.5f}};
    CHECK(suites::unlike(errc::corrupt, {"decay"}, [&] { other_decay.restore_state(saved); }) == "");
    for (std::size_t at = 0; at < saved.size(); at += 7) {
        auto changed = saved;
        changed[at] ^= std::byte{1};
        CHECK(suites::unlike(errc::corrupt, {"error_feedback{top_k}"}, [&] { restored.restore_state(changed); }) == "");
    }
}

TEST_CASE("a value that is not finite never enters the residual") {
    for (auto policy : {nonfinite::propagate, nonfinite::sanitise, nonfinite::refuse})
        for (float bad : {not_a_number, infinity, -infinity}) {
            error_feedback feedback{top_k::of(1)};
            feedback.inner.on_nonfinite = policy;
            sent_by(feedback, {1, 2, 3});
            auto const poisoned = [&] { return sent_by(feedback, {4, bad, 8}); };
            INFO(std::string{to_string(policy)}, " of ", bad);
            if (policy == nonfinite::refuse) {
                CHECK(suites::unlike(errc::invalid_argument, {"element 1"}, poisoned) == "");
                CHECK(copy_of(feedback.residual()) == floats{1, 2, 0});
                continue;
            }
            floats const sent = poisoned();
            constexpr float most = std::numeric_limits<float>::max();
            if (policy == nonfinite::propagate) CHECK(!std::isfinite(sent[1]));
            else if (std::isnan(bad)) CHECK(sent == floats{0, 0, 8});
            else CHECK(sent == floats{0, bad > 0 ? most : -most, 0});
            if (policy == nonfinite::sanitise && std::isnan(bad)) CHECK(copy_of(feedback.residual()) == floats{5, 2, 0});
            else CHECK(copy_of(feedback.residual()) == floats{5, 0, 8});
        }
}

TEST_CASE("a sum of gradient and residual that overflows is treated as an infinity, and so is one that a cast makes") {
    float const large = 3e38f;
    error_feedback feedback{top_k::of(1)};
    sent_by(feedback, {large, large});
    CHECK(sent_by(feedback, {0, large})[1] == infinity);
    CHECK(copy_of(feedback.residual()) == floats{0, 0});
    error_feedback refusing{top_k::of(1)};
    refusing.inner.on_nonfinite = nonfinite::refuse;
    sent_by(refusing, {large, large});
    CHECK(suites::unlike(errc::invalid_argument, {"element 1", "infinity"}, [&] { sent_by(refusing, {0, large}); }) == "");
    CHECK(copy_of(refusing.residual()) == floats{0, large});
    error_feedback cast{chorus::half_cast{}};
    sent_by(cast, {1e6f, 1.0f});
    for (float kept : cast.residual()) CHECK(std::isfinite(kept));
}

TEST_CASE("against what is sent by all, each rank keeps another residual, and all together the same") {
    constexpr std::size_t ranks = 4, count = 64;
    std::vector<error_feedback<top_k>> own(ranks, error_feedback{top_k::of(7)});
    std::vector<error_feedback<top_k>> averaged(ranks, error_feedback{top_k::of(7), {.against = approximation::averaged}});
    floats came(count), arrived(count);
    for (std::uint64_t step = 0; step < 3; ++step) {
        floats sum(count), sum_own(count);
        for (std::size_t p = 0; p < ranks; ++p) {
            floats x = integers(count, step * ranks + p);
            for (float& v : x) v *= 1024;  // what is divided by 4 in each step stays exact
            add(came, x);
            add(sum, sent_by(averaged[p], x));
            if (step == 0) add(sum_own, sent_by(own[p], x));
        }
        add(arrived, sum);
        for (float& v : sum) v /= static_cast<float>(ranks);
        floats total(count), total_own(count);
        for (std::size_t p = 0; p < ranks; ++p) {
            averaged[p].settle(sum);
            add(total, averaged[p].residual());
            add(total_own, own[p].residual());
        }
        if (step == 0) {
            CHECK(total == total_own);
            CHECK(copy_of(own[0].residual()) != copy_of(averaged[0].residual()));
        }
        add(total, arrived);
        CHECK(total == came);
    }
}

TEST_CASE("the averaged approximation is asked for once after each message") {
    error_feedback feedback{top_k::of(1), {.against = approximation::averaged}};
    floats const mean{1, 2, 3};
    auto const settle = [&] { feedback.settle(mean); };
    CHECK(suites::unlike(errc::invalid_argument, {"nothing to settle"}, settle) == "");
    sent_by(feedback, {4, 5, 6});
    CHECK(suites::unlike(errc::invalid_argument, {"before the last was settled"}, [&] { sent_by(feedback, {4, 5, 6}); }) == "");
    suites::message_bytes saved(feedback.state_bytes());
    CHECK(suites::unlike(errc::invalid_argument, {"before it is settled"}, [&] { feedback.save_state(saved); }) == "");
    CHECK(suites::unlike(errc::invalid_argument, {"3 elements", "with 2"}, [&] { feedback.settle(std::span{mean}.first(2)); }) == "");
    settle();
    CHECK(copy_of(feedback.residual()) == floats{3, 3, 3});
    CHECK(suites::unlike(errc::invalid_argument, {"nothing to settle"}, settle) == "");
    error_feedback own{top_k::of(1)};
    sent_by(own, {4, 5, 6});
    CHECK(suites::unlike(errc::invalid_argument, {"nothing to settle"}, [&] { own.settle(mean); }) == "");
    own.correct(mean);
    CHECK(suites::unlike(errc::invalid_argument, {"before the last was settled"}, [&] { sent_by(own, {4, 5, 6}); }) == "");
    CHECK(copy_of(feedback.correct(mean)) == floats{4, 5, 6});
    CHECK(suites::unlike(errc::invalid_argument, {"before the last was settled"}, [&] { feedback.correct(mean); }) == "");
    feedback.settle(mean);
    CHECK(copy_of(feedback.residual()) == floats{3, 3, 3});
}
