// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/compress/detail/nonfinite_values.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>

namespace chorus::detail {

/// The characters of "outer{inner}"; a class that is built around a compressor keeps them and views them as its name.
template <class Inner, std::size_t Length>
consteval auto nested_name(char const (&outer)[Length]) {
    constexpr std::string_view inner{Inner::name};
    std::array<char, Length - 1 + inner.size() + 2> text{};
    std::size_t at = 0;
    for (char c : std::string_view{outer, Length - 1}) text[at++] = c;
    text[at++] = '{';
    for (char c : inner) text[at++] = c;
    text[at] = '}';
    return text;
}

/// `payload_type`, where the compressor has one.
template <class C> struct payload_of {};
template <linear_compressor C> struct payload_of<C> {
    using payload_type = typename C::payload_type;
};

/// What the innermost compressor does with values that are not finite; those that do not say are taken to let them through.
template <class C>
constexpr nonfinite policy_of(C const& c) noexcept {
    if constexpr (requires { c.inner; }) return policy_of(c.inner);
    else if constexpr (requires { { c.policy() } -> std::convertible_to<nonfinite>; }) return c.policy();
    else if constexpr (requires { { c.on_nonfinite } -> std::convertible_to<nonfinite>; }) return c.on_nonfinite;
    else return nonfinite::propagate;
}

/// What a state may take in.
constexpr float finite_or_zero(float value) noexcept { return is_finite(value) ? value : 0.0f; }

/// The promise of a compressor that promises nothing but the range of finite vectors.
inline compression_promise range_alone(compression_promise const& inner) noexcept {
    return {.smallest = inner.smallest, .largest = inner.largest};
}

}  // namespace chorus::detail
