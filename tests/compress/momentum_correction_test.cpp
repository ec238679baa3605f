// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/momentum_correction.hpp"

#include "chorus/compress/error_feedback.hpp"
#include "chorus/compress/half_cast.hpp"
#include "chorus/compress/top_k.hpp"
#include "suites/compressor_suite.hpp"

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::momentum_correction;
using chorus::momentum_options;
using chorus::nonfinite;
using chorus::top_k;
using suites::floats;

namespace {

static_assert(chorus::stateful_compressor<momentum_correction<top_k>>);

template <class C>
floats sent_by(C& c, floats const& x) {
    auto const wire = suites::encoded(c, x);
    return suites::decoded(c, wire, x.size());
}

floats copy_of(std::span<float const> values) { return floats(values.begin(), values.end()); }

floats integers(std::size_t count, std::uint64_t seed) {
    floats x = suites::drawn(count, seed);
    for (float& v : x) v = std::round(v * 50);
    return x;
}

/// The definition, element by element in double; exact for the data used here.
struct by_definition {
    momentum_options options;
    floats u, v;

    explicit by_definition(std::size_t count, momentum_options const& chosen) : options{chosen}, u(count), v(count) {}

    void take(floats const& g) {
        for (std::size_t i = 0; i < g.size(); ++i) {
            u[i] = options.is_nesterov ? options.momentum * (u[i] + g[i]) : options.momentum * u[i] + g[i];
            v[i] += options.is_nesterov ? u[i] + g[i] : u[i];
        }
    }
    void leave(floats const& sent) {
        for (std::size_t i = 0; i < sent.size(); ++i) {
            v[i] -= sent[i];
            if (options.masks_factors && sent[i] != 0) u[i] = 0;
        }
    }
};

}  // namespace

TEST_CASE("momentum_correction: all laws of a compressor") {
    CHECK(momentum_correction<top_k>::name == "momentum_correction{top_k}");
    suites::compressor_suite(momentum_correction{top_k{0.1}}, {.is_large_tried = false});
}

TEST_CASE("u, v and what is sent are as defined, with and without masks and Nesterov") {
    for (bool is_nesterov : {false, true})
        for (bool masks : {false, true}) {
            // A momentum of 1/2 keeps integers times 2^20 exact for as many steps.
            momentum_options const options{.momentum = 0.5f, .is_nesterov = is_nesterov, .masks_factors = masks};
            momentum_correction corrected{top_k{0.1}, options};
            by_definition expected{40, options};
            for (std::uint64_t step = 0; step < 10; ++step) {
                floats const g = integers(40, step);
                expected.take(g);
                floats const accumulated = expected.v;
                floats const sent = sent_by(corrected, g);
                expected.leave(sent);
                CHECK(sent == [&] { top_k alone{0.1}; return sent_by(alone, accumulated); }());
                CHECK(copy_of(corrected.velocity()) == expected.u);
                CHECK(copy_of(corrected.unsent()) == expected.v);
            }
        }
}

TEST_CASE("a momentum of nothing is error feedback") {
    momentum_correction corrected{top_k{0.05}, {.momentum = 0.0f}};
    chorus::error_feedback feedback{top_k{0.05}};
    for (std::uint64_t step = 0; step < 20; ++step) {
        floats const x = suites::drawn(301, step);
        CHECK(suites::encoded(corrected, x) == suites::encoded(feedback, x));
        CHECK(copy_of(corrected.unsent()) == copy_of(feedback.residual()));
    }
}

TEST_CASE("all that is sent, in the long run, is what dense momentum would have sent") {
    // One large gradient and then none: dense momentum moves each element by g / (1 - m).
    momentum_correction corrected{top_k::of(1), {.momentum = 0.5f, .masks_factors = false}};
    floats total(2), g{8, 4};
    for (int step = 0; step < 60; ++step) {
        floats const sent = sent_by(corrected, g);
        for (std::size_t i = 0; i < 2; ++i) total[i] += sent[i];
        g = {0, 0};
    }
    CHECK(total[0] == doctest::Approx(16));
    CHECK(total[1] == doctest::Approx(8));
}

TEST_CASE("masks stop the momentum of what was sent") {
    momentum_correction corrected{top_k::of(1), {.momentum = 0.5f}};
    CHECK(sent_by(corrected, {8, 4}) == floats{8, 0});
    CHECK(copy_of(corrected.velocity()) == floats{0, 4});
    CHECK(sent_by(corrected, {0, 0}) == floats{0, 6});
    CHECK(copy_of(corrected.velocity()) == floats{0, 0});
    for (int step = 0; step < 3; ++step) CHECK(sent_by(corrected, {0, 0}) == floats{0, 0});
}

TEST_CASE("only a selection may be masked") {
    momentum_correction masked{chorus::half_cast{}};
    CHECK(suites::unlike(errc::invalid_argument, {"half_cast", "masks_factors"}, [&] { sent_by(masked, {1, 2}); }) == "");
    momentum_correction plain{chorus::half_cast{}, {.momentum = 0.5f, .masks_factors = false}};
    CHECK(sent_by(plain, {2, 4}) == floats{2, 4});
    CHECK(sent_by(plain, {2, 4}) == floats{3, 6});
    for (float momentum : {-0.5f, 1.0f, std::numeric_limits<float>::quiet_NaN()})
        CHECK(suites::unlike(errc::invalid_argument, {"momentum"}, [&] { momentum_correction{top_k{}, {.momentum = momentum}}; }) == "");
}

TEST_CASE("EFB-4: another count is refused until the momentum is reset") {
    momentum_correction corrected{top_k{0.1}};
    sent_by(corrected, integers(100, 1));
    for (std::size_t count : {std::size_t{60}, std::size_t{200}})
        CHECK(suites::unlike(errc::invalid_argument, {"100 elements", "was given " + std::to_string(count)},
                             [&] { sent_by(corrected, integers(count, 3)); }) == "");
    corrected.reset();
    momentum_correction fresh{top_k{0.1}};
    for (std::uint64_t step = 0; step < 3; ++step) CHECK(sent_by(corrected, integers(60, step)) == sent_by(fresh, integers(60, step)));
}

TEST_CASE("EFB-7: u and v are saved; another momentum or size is refused") {
    momentum_correction whole{top_k{0.02}};
    for (std::uint64_t step = 0; step < 10; ++step) suites::encoded(whole, suites::drawn(200, step));
    suites::message_bytes saved(whole.state_bytes());
    whole.save_state(saved);
    momentum_correction restored{top_k{0.02}};
    restored.restore_state(saved);
    for (std::uint64_t step = 10; step < 20; ++step)
        CHECK(suites::encoded(whole, suites::drawn(200, step)) == suites::encoded(restored, suites::drawn(200, step)));
    momentum_correction other{top_k{0.02}, {.momentum = 0.5f}};
    CHECK(suites::unlike(errc::corrupt, {"its momentum is another"}, [&] { other.restore_state(saved); }) == "");
    momentum_correction smaller{top_k{0.02}};
    suites::encoded(smaller, suites::drawn(100, 1));
    CHECK(suites::unlike(errc::corrupt, {"200 elements, this one of 100"}, [&] { smaller.restore_state(saved); }) == "");
}

TEST_CASE("a value that is not finite stays in neither u nor v") {
    constexpr float bad_ones[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()};
    for (auto policy : {nonfinite::propagate, nonfinite::sanitise, nonfinite::refuse})
        for (float bad : bad_ones)
            for (bool is_nesterov : {false, true}) {
                momentum_correction corrected{top_k::of(2), {.momentum = 0.5f, .is_nesterov = is_nesterov}};
                corrected.inner.on_nonfinite = policy;
                sent_by(corrected, {3, 2, 1});
                floats const u = copy_of(corrected.velocity()), v = copy_of(corrected.unsent());
                auto const poisoned = [&] { return sent_by(corrected, {1, 1, bad}); };
                if (policy == nonfinite::refuse) {
                    CHECK(suites::unlike(errc::invalid_argument, {"element 2"}, poisoned) == "");
                    CHECK((copy_of(corrected.velocity()) == u && copy_of(corrected.unsent()) == v));
                } else {
                    CHECK(std::isfinite(poisoned()[2]) == (policy == nonfinite::sanitise));
                }
                for (float kept : corrected.velocity()) CHECK(std::isfinite(kept));
                for (float kept : corrected.unsent()) CHECK(std::isfinite(kept));
            }
}
