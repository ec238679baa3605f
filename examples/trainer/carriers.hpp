// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <chorus/transport/any_transport.hpp>

#include <functional>

namespace trainer {

/// What every rank does.
using rank_program = std::function<void(chorus::any_transport&)>;

/// Becomes one of the ranks that a launcher has started. Throws std::runtime_error where the library is not built in.
void run_over_ucx(rank_program const& program);
void run_over_mpi(rank_program const& program);

}  // namespace trainer
