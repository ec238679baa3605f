// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/check.hpp"
#include "chorus/data/element.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <type_traits>

namespace chorus {

/// |x|², summed in double.
template <class T>
double squared_norm(std::span<T> values) noexcept {
    double sum = 0;
    for (auto const& x : values) {
        auto const wide = static_cast<double>(static_cast<wide_t<std::remove_const_t<T>>>(x));
        sum += wide * wide;
    }
    return sum;
}

/// What one rank contributes to a measurement of noise, added up over the ranks by any all-reduce of three doubles: b |g|², b and 1, where g is its mean gradient over its b samples
/// before it is averaged. A rank without samples contributes nothing.
using gradient_scatter = std::array<double, 3>;

template <class T>
gradient_scatter scatter_of(std::span<T> gradient, double samples) noexcept {
    if (!(samples > 0)) return {0, 0, 0};
    return {samples * squared_norm(gradient), samples, 1};
}

/// How much of a gradient is noise. The gradient of one sample is G plus noise of mean 0.
struct gradient_noise {
    double noise = 0;   ///< S: the variance of one sample's gradient, summed over the elements
    double signal = 0;  ///< |G|²; of a single measurement it may be below 0

    /// S / |G|², the batch at which the mean gradient is half noise: below it a larger batch is as good as more steps, far above it samples are wasted. Infinite where no signal was seen.
    double scale() const noexcept { return signal > 0 ? noise / signal : std::numeric_limits<double>::infinity(); }

    /// What a sample is worth in a batch of so many, beside one in a batch of `base`.
    double efficiency(double samples, double base = 1) const noexcept {
        double const by = scale();
        return std::isinf(by) ? 1.0 : (by + base) / (by + samples);
    }

    friend bool operator==(gradient_noise const&, gradient_noise const&) = default;
};

/// From one step: the ranks' scatters, added up, and |ḡ|² of the mean gradient over all samples, Σ b g / Σ b.
///
///     S = (Σ b |g|² - B |ḡ|²) / (p - 1)        |G|² = |ḡ|² - S / B         B = Σ b, over the p ranks with samples
///
/// unbiased for any batches, equal or not | the analysis of variance: of all unbiased estimates from the ranks' means it has the smallest variance if gradients are Gaussian |
/// of equal batches it is McCandlish's; of unequal ones, Cannikin's mean over the ranks' own estimates b B (|g|² - |ḡ|²) / (B - b) with weights (B - b) / (B (p - 1)) |
/// throws `invalid_argument` for fewer than two ranks with samples
/// McCandlish, Kaplan, Amodei, "An empirical model of large-batch training", arXiv 1812.06162; Nie, Maghakian, Liu, "Cannikin", Middleware 2024.
inline gradient_noise measured_noise(gradient_scatter const& all, double squared_norm_of_mean) {
    double const weighted = all[0], samples = all[1], ranks = all[2];
    detail::expects(ranks >= 2, [&] { return "measured_noise: " + std::to_string(static_cast<long long>(ranks)) + " ranks had samples, expected at least two"; });
    double const noise = (weighted - samples * squared_norm_of_mean) / (ranks - 1);
    return {noise, squared_norm_of_mean - noise / samples};
}

/// The same over time: noise and signal are smoothed each for itself, since the mean of a quotient is not the quotient of means.
class noise_scale {
 public:
    /// `smoothing`: how much the newest step counts, in (0, 1].
    explicit noise_scale(double smoothing = 0.05) : smoothing_{smoothing} {
        detail::expects(smoothing > 0 && smoothing <= 1, [&] { return "noise_scale: a smoothing of " + std::to_string(smoothing) + ", expected above 0 and at most 1"; });
    }

    void update(gradient_noise const& step) noexcept {
        noise_ += smoothing_ * (step.noise - noise_);
        signal_ += smoothing_ * (step.signal - signal_);
        weight_ += smoothing_ * (1 - weight_);
    }

    /// Averaged with weights that add up to 1 from the first step on, hence as unbiased as each step; zeros before it.
    gradient_noise average() const noexcept { return weight_ > 0 ? gradient_noise{noise_ / weight_, signal_ / weight_} : gradient_noise{}; }

    friend bool operator==(noise_scale const&, noise_scale const&) = default;

 private:
    double smoothing_;
    double noise_ = 0, signal_ = 0, weight_ = 0;
};

}  // namespace chorus
