// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/random.hpp"
#include "chorus/compress/compressor.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace suites {

using floats = std::vector<float>;
using float_limits = std::numeric_limits<float>;

/// Uniform in [-1, 1), the same everywhere.
inline floats drawn(std::size_t count, std::uint64_t seed) {
    chorus::counter_random const random{seed, 0xC0FFEE};
    floats x(count);
    for (std::size_t i = 0; i < count; ++i) x[i] = static_cast<float>(random.unit(i) * 2 - 1);
    return x;
}

struct named_vector {
    std::string name;
    floats values;
};

/// Vectors that are hard on some compressor; all finite.
inline std::vector<named_vector> hard_vectors(std::size_t count) {
    std::vector<named_vector> all;
    auto add = [&](char const* name, auto const& value) {
        all.push_back({name, floats(count)});
        for (std::size_t i = 0; i < count; ++i) all.back().values[i] = static_cast<float>(value(i));
    };
    floats const random = drawn(count, count);
    add("uniform", [&](std::size_t i) { return random[i]; });
    add("all zero", [](std::size_t) { return 0.0f; });
    add("all minus zero", [](std::size_t) { return -0.0f; });
    add("all equal", [](std::size_t) { return 0.3f; });
    add("all equal, negative", [](std::size_t) { return -1.7f; });
    add("alternating", [](std::size_t i) { return i % 2 == 0 ? 2.0f : -2.0f; });
    add("denormal", [&](std::size_t i) { return random[i] * 1e-40f; });
    add("least", [](std::size_t i) { return i % 3 == 0 ? -float_limits::denorm_min() : float_limits::denorm_min(); });
    add("one huge", [&](std::size_t i) { return i == count / 2 ? (float_limits::max)() : random[i]; });
    add("all huge", [](std::size_t i) { return i % 2 == 0 ? (float_limits::max)() : float_limits::lowest(); });
    add("far from zero", [&](std::size_t i) { return 1000.0f + random[i]; });
    add("many sizes", [&](std::size_t i) { return random[i] * std::ldexp(1.0f, static_cast<int>(i % 61) - 30); });
    add("nearly all zero", [&](std::size_t i) { return i % 11 == 3 ? random[i] : 0.0f; });
    add("integers", [&](std::size_t i) { return std::floor(random[i] * 8); });
    return all;
}

/// One element of 1 and the others of size r: where a grid of steps of 2r loses most.
inline std::vector<named_vector> worst_vectors(std::size_t count) {
    std::vector<named_vector> all;
    for (double r : {0.5, 0.4999, 0.49 / 7, 0.5 / 7, 0.5 / 15, 0.5 / 127, 0.5 / 255, 0.1, 0.01, 1e-3}) {
        all.push_back({"1 and many of " + std::to_string(r), floats(count, static_cast<float>(r))});
        for (std::size_t i = 1; i < count; i += 2) all.back().values[i] *= -1;
        if (count != 0) all.back().values[count / 3] = 1.0f;
    }
    return all;
}

/// Whether every element is 0 or within the range for which the promise is made.
inline bool is_within(chorus::compression_promise const& promise, floats const& x) {
    return std::all_of(x.begin(), x.end(), [&](float v) {
        return v == 0 || (std::abs(v) >= promise.smallest && std::abs(v) <= promise.largest);
    });
}

/// What `nonfinite::sanitise` says: NaN counts as 0, infinities as the largest finite value of their sign.
inline floats sanitised(floats x) {
    for (float& v : x) {
        if (std::isnan(v)) v = 0;
        else if (std::isinf(v)) v = std::copysign((float_limits::max)(), v);
    }
    return x;
}

inline double square(double x) { return x * x; }

inline double squared_norm(floats const& x) {
    double total = 0;
    for (float v : x) total += square(v);
    return total;
}

inline double squared_distance(floats const& x, floats const& y) {
    double total = 0;
    for (std::size_t i = 0; i < x.size(); ++i) total += square(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    return total;
}

/// Mean and standard error of samples.
class sample_mean {
 public:
    void add(double value) {
        ++many_;
        double const step = value - mean_;
        mean_ += step / many_;
        squares_ += step * (value - mean_);
    }
    double mean() const { return mean_; }
    double error() const { return many_ < 2 ? 0.0 : std::sqrt(squares_ / (many_ - 1) / many_); }

 private:
    double many_ = 0;
    double mean_ = 0;
    double squares_ = 0;
};

}  // namespace suites
