// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/clipping.hpp"

#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/momentum_correction.hpp"
#include "chorus/compress/top_k.hpp"
#include "chorus/compress/uncompressed.hpp"
#include "suites/compressor_suite.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>

#include <doctest/doctest.h>

using chorus::clipping;
using chorus::errc;
using chorus::error_feedback;
using chorus::top_k;
using chorus::uncompressed;
using suites::floats;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class C>
floats sent_by(C& c, floats const& x) {
    auto const wire = suites::encoded(c, x);
    return suites::decoded(c, wire, x.size());
}

floats copy_of(std::span<float const> values) { return floats(values.begin(), values.end()); }

}  // namespace

TEST_CASE("clipping: all laws of a compressor") {
    CHECK(clipping<error_feedback<top_k>>::name == "clipping{error_feedback{top_k}}");
    suites::compressor_suite(clipping{error_feedback{top_k{0.1}}, {.element = 0.5f, .norm = 2.0f}}, {.is_large_tried = false});
}

TEST_CASE("no element is larger than its limit, no vector longer than its own; what is within is left alone") {
    clipping elements{uncompressed{}, {.element = 2.0f}};
    CHECK(sent_by(elements, {-5, -2, -1, 0, 1.5f, 2, 1e30f}) == floats{-2, -2, -1, 0, 1.5f, 2, 2});
    clipping norm{uncompressed{}, {.norm = 5.0f}};
    CHECK(sent_by(norm, {6, -8}) == floats{3, -4});
    CHECK(sent_by(norm, {3, -4}) == floats{3, -4});
    clipping both{uncompressed{}, {.element = 8.0f, .norm = 5.0f}};
    CHECK(sent_by(both, {6, -1000}) == floats{3, -4});
    clipping neither{top_k{0.1}};
    CHECK(neither.promise(50) == top_k{0.1}.promise(50));
    CHECK(norm.promise(50) == chorus::compression_promise{});
    for (std::size_t count : {std::size_t{1}, std::size_t{9}, std::size_t{1023}})
        for (auto const& hard : suites::hard_vectors(count)) {
            floats const clipped = sent_by(norm, hard.values);
            double const before = std::sqrt(suites::squared_norm(hard.values)), after = std::sqrt(suites::squared_norm(clipped));
            INFO(hard.name, ", ", count, " elements");
            if (before <= 5) CHECK(suites::same_bits(clipped, hard.values));
            else CHECK(after == doctest::Approx(5).epsilon(1e-6));
        }
}

TEST_CASE("clipped inside error feedback is kept, outside is lost") {
    error_feedback keeps{clipping{uncompressed{}, {.element = 2.0f}}};
    clipping loses{error_feedback{uncompressed{}}, {.element = 2.0f}};
    floats kept_total(2), lost_total(2);
    floats x{5, -3};
    for (int step = 0; step < 4; ++step) {
        floats const kept = sent_by(keeps, x), lost = sent_by(loses, x);
        for (std::size_t i = 0; i < 2; ++i) {
            kept_total[i] += kept[i];
            lost_total[i] += lost[i];
            CHECK(std::abs(kept[i]) <= 2);
        }
        x = {0, 0};
    }
    CHECK(kept_total == floats{5, -3});
    CHECK(lost_total == floats{2, -2});
    CHECK(copy_of(loses.inner.residual()) == floats{0, 0});
}

TEST_CASE("adaptors nest in either order") {
    clipping outside{chorus::momentum_correction{top_k::of(1), {.momentum = 0.5f}}, {.norm = 5.0f}};
    CHECK(sent_by(outside, {6, -8}) == floats{0, -4});
    CHECK(sent_by(outside, {0, 0}) == floats{4.5f, 0});
    error_feedback inside{clipping{top_k::of(1), {.element = 3.0f}}};
    CHECK(sent_by(inside, {4, -8}) == floats{3, 0});
    CHECK(copy_of(inside.residual()) == floats{1, -8});
}

TEST_CASE("what is not finite passes under propagate, without a part in the norm") {
    clipping norm{uncompressed{}, {.element = 6.0f, .norm = 5.0f}};
    floats const sent = sent_by(norm, {infinity, -30, std::numeric_limits<float>::quiet_NaN(), -infinity});
    CHECK(sent[0] == infinity);
    CHECK(sent[1] == -5);
    CHECK(std::isnan(sent[2]));
    CHECK(sent[3] == -infinity);
    norm.inner.on_nonfinite = chorus::nonfinite::sanitise;
    CHECK(sent_by(norm, {infinity, 0}) == floats{5, 0});
}

TEST_CASE("limits that are none are refused, and others than those that were saved") {
    for (float wrong : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()}) {
        CHECK(suites::unlike(errc::invalid_argument, {"limits"}, [&] { clipping{top_k{}, {.element = wrong}}; }) == "");
        CHECK(suites::unlike(errc::invalid_argument, {"limits"}, [&] { clipping{top_k{}, {.norm = wrong}}; }) == "");
    }
    clipping whole{error_feedback{top_k{0.1}}, {.norm = 2.0f}}, other{error_feedback{top_k{0.1}}, {.norm = 3.0f}};
    suites::message_bytes saved(whole.state_bytes());
    whole.save_state(saved);
    CHECK(suites::unlike(errc::corrupt, {"its limits are others"}, [&] { other.restore_state(saved); }) == "");
}
