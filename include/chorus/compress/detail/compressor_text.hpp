// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/compress/compressor.hpp"
#include "chorus/detail/named_parameters.hpp"

#include <concepts>
#include <string>
#include <string_view>

namespace chorus::detail {

// Compressors as text: name(parameter=value, …), the parameters being those members of theirs that `with_compressor_parameters` knows.

/// visit(name, member) for each parameter that the compressor has: one line for every name there is.
struct with_compressor_parameters {
    template <class C, class Visit>
    void operator()(C& c, Visit const& visit) const {
        if constexpr (requires { c.bits; }) visit("bits", c.bits);
        if constexpr (requires { c.levels; }) visit("levels", c.levels);
        if constexpr (requires { c.block; }) visit("block", c.block);
        if constexpr (requires { c.scale; }) visit("scale", c.scale);
        if constexpr (requires { c.rounding; }) visit("rounding", c.rounding);
        if constexpr (requires { c.clip; }) visit("clip", c.clip);
        if constexpr (requires { c.beta; }) visit("beta", c.beta);
        if constexpr (requires { c.ratio; }) visit("ratio", c.ratio);
        if constexpr (requires { c.entries; }) visit("entries", c.entries);
        if constexpr (requires { c.least; }) visit("least", c.least);
        if constexpr (requires { c.rank; }) visit("rank", c.rank);
        if constexpr (requires { c.columns; }) visit("columns", c.columns);
        if constexpr (requires { c.iterations; }) visit("iterations", c.iterations);
        if constexpr (requires { c.is_scaled; }) visit("is_scaled", c.is_scaled);
        if constexpr (requires { c.indices; }) visit("indices", c.indices);
        if constexpr (requires { c.seed; }) visit("seed", c.seed);
        if constexpr (requires { c.on_nonfinite; }) visit("on_nonfinite", c.on_nonfinite);
    }
};

/// The name, with those parameters that differ from their defaults. Compressors around another tell that one first.
template <class C>
std::string described_compressor(C const& c) {
    if constexpr (requires { { c.describe() } -> std::convertible_to<std::string>; }) {
        return c.describe();
    } else if constexpr (requires { c.inner; }) {
        std::string_view const nested = C::name;  // "outer{inner}"
        return std::string{nested.substr(0, nested.find('{'))} + '(' + described_compressor(c.inner) + ')';
    } else if constexpr (std::default_initializable<C>) {
        std::string const parameters = changed_parameters(c, C{}, with_compressor_parameters{});
        return std::string{C::name} + (parameters.empty() ? "" : parameters + ')');
    } else {
        return std::string{C::name};
    }
}

}  // namespace chorus::detail
