// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chorus/schedule/algorithm.hpp>

#include <string>

namespace bench {

/// Prints, collective by collective, every algorithm with what its busiest rank does on 8 and on 64 ranks; n is the
/// length of the vector, and the last column what a reduction's operation must be. The numbers are the algorithms' own
/// cost functions, which tests hold against their schedules.
void print_algorithms();

/// Throws std::invalid_argument, or chorus::error for a name that is no algorithm, where it does not offer that.
void expect_offered(std::string const& algorithm, chorus::collective what);

}  // namespace bench
