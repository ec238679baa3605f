// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace chorus {

/// One element's step of an optimiser outside the local ones: from the last synced model z, whose gradient is taken to be z - target.
///
/// moments   numbers that it keeps for each element, zeros at first
/// step      the new z; `at` are its moments' arrays, `i` the element, `round` counts steps from 0
template <class O, class T> concept outer_optimiser =
    std::copyable<O> && requires(O const& optimiser, T z, T target, std::span<T> moments, std::size_t i, std::uint64_t round) {
        { O::name } -> std::convertible_to<std::string_view>;
        { O::moments } -> std::convertible_to<std::size_t>;
        { optimiser.prepared(T{}, round).step(z, target, moments, i) } -> std::same_as<T>;
    };

namespace detail {

template <class T> struct sgd_step {
    T rate;
    T step(T z, T target, std::span<T>, std::size_t) const noexcept { return (T{1} - rate) * z + rate * target; }
};
template <class T> struct momentum_step {
    T rate, momentum;
    bool looks_ahead;
    T step(T z, T target, std::span<T> moments, std::size_t i) const noexcept {
        T const gradient = z - target;
        T const velocity = moments[i] = momentum * moments[i] + gradient;
        return z - rate * (looks_ahead ? gradient + momentum * velocity : velocity);
    }
};
template <class T> struct adam_step {
    T rate, first, second, epsilon, first_share, second_share;
    T step(T z, T target, std::span<T> moments, std::size_t i) const noexcept {
        T const gradient = z - target;
        T& mean = moments[i];
        T& square = moments[moments.size() / 2 + i];
        mean = first * mean + (T{1} - first) * gradient;
        square = second * square + (T{1} - second) * gradient * gradient;
        return z - rate * (mean / first_share) / (std::sqrt(square / second_share) + epsilon);
    }
};

}  // namespace detail

/// z' = (1 - rate) z + rate · target; rate 1 is the target to the bit.
struct outer_sgd {
    static constexpr std::string_view name = "outer_sgd";
    static constexpr std::size_t moments = 0;

    double rate = 1.0;

    template <class T> detail::sgd_step<T> prepared(T, std::uint64_t) const noexcept { return {static_cast<T>(rate)}; }
    friend bool operator==(outer_sgd const&, outer_sgd const&) = default;
};

/// m = μ m + g; z' = z - rate · m.
struct outer_momentum {
    static constexpr std::string_view name = "outer_momentum";
    static constexpr std::size_t moments = 1;

    double rate = 0.7;
    double momentum = 0.9;

    template <class T> detail::momentum_step<T> prepared(T, std::uint64_t) const noexcept {
        return {static_cast<T>(rate), static_cast<T>(momentum), false};
    }
    friend bool operator==(outer_momentum const&, outer_momentum const&) = default;
};

/// m = μ m + g; z' = z - rate (g + μ m): what DiLoCo takes.
struct outer_nesterov {
    static constexpr std::string_view name = "outer_nesterov";
    static constexpr std::size_t moments = 1;

    double rate = 0.7;
    double momentum = 0.9;

    template <class T> detail::momentum_step<T> prepared(T, std::uint64_t) const noexcept {
        return {static_cast<T>(rate), static_cast<T>(momentum), true};
    }
    friend bool operator==(outer_nesterov const&, outer_nesterov const&) = default;
};

/// m = β₁ m + (1 - β₁) g; v = β₂ v + (1 - β₂) g²; z' = z - rate m̂ / (√v̂ + ε), both divided by 1 - β^round.
struct outer_adam {
    static constexpr std::string_view name = "outer_adam";
    static constexpr std::size_t moments = 2;

    double rate = 0.3;
    double first = 0.9;
    double second = 0.95;
    double epsilon = 0.1;

    template <class T> detail::adam_step<T> prepared(T, std::uint64_t round) const noexcept {
        double const steps = static_cast<double>(round) + 1;
        return {static_cast<T>(rate),    static_cast<T>(first), static_cast<T>(second),
                static_cast<T>(epsilon), static_cast<T>(1 - std::pow(first, steps)), static_cast<T>(1 - std::pow(second, steps))};
    }
    friend bool operator==(outer_adam const&, outer_adam const&) = default;
};

static_assert(outer_optimiser<outer_sgd, float> && outer_optimiser<outer_momentum, float> && outer_optimiser<outer_nesterov, float> &&
              outer_optimiser<outer_adam, double>);

}  // namespace chorus
