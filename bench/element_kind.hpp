// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "pattern.hpp"

#include <chorus/data/reduce_block.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace bench {

/// An element type as a value: what the engine knows of it, so that it is compiled once for all of them.
struct element_kind {
    std::string_view name;
    std::size_t bytes;
    void (*write)(int value, std::byte* where);    ///< exact for 0 … 127
    double (*read)(std::byte const* where);        ///< for reports of what came out wrong
    chorus::reducer (*reducer_of)(operation op);
};

/// float, double, half, bfloat16, int8 … int64, uint8 … uint64.
std::span<element_kind const> all_elements() noexcept;

/// Throws std::invalid_argument.
element_kind const& element_named(std::string_view name);

}  // namespace bench
