// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "call_shape.hpp"
#include "carried_facts.hpp"

#include <chorus/collective/compression.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

/// The compressor that `text` names, for a collective; empty: none. Throws std::invalid_argument, which says what can be
/// carried, for other elements, operations and collectives, and chorus::error for a name that is none.
chorus::compression carried_by(std::string const& text, chorus::collective what, operation op, std::string_view element);

/// What the compressor's contract allows: the most by which a result may be off as a part of the sum over ranks of the norms
/// of what they put in, however the vector is cut into blocks and whichever way partial sums go. With p ranks up to 2 p
/// encodings follow one another in a reduction, otherwise there is one. Infinite where nothing is promised for a single call.
double error_bound(chorus::compression const& by, chorus::collective what, chorus::rank_id ranks, std::uint64_t count);

/// Whether all ranks must end with the same bits.
bool gives_all_the_same(chorus::collective what) noexcept;

}  // namespace bench
