// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/any_transport.hpp"

#include <functional>

// The suites of the foundations over transports whose ranks are processes that a launcher has started. Compiled once;
// a program per transport is a few lines:
//
//     int main(int argc, char** argv) {
//         /* join the other processes */
//         return networks::run_conformance(argc, argv, rank, size, [&] { return own_transport_as_any(); });
//     }
namespace networks {

/// Makes this process's endpoint of a new transport; all ranks call it at the same time, again and again.
using transport_maker = std::function<chorus::any_transport()>;

/// Runs the laws of transports and every collective by every algorithm. Options: --only laws or --only collectives;
/// --quick: fewer counts; doctest's. Prints what fails, with its rank, and rank 0 the number of results compared.
/// Returns what main returns. Skips nothing.
int run_conformance(int argc, char** argv, chorus::rank_id rank, chorus::rank_id size, transport_maker make);

}  // namespace networks
