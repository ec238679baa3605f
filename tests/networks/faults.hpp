// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/transport/any_transport.hpp"

#include <functional>

// One fault on purpose, and what every rank says to it; tests/networks/fault_table judges and prints.
namespace networks {

/// Arguments: the scenario and its parameters; "list" prints all. Each rank prints one line of JSON:
/// {"rank", "outcome": "error" or "success", "code", "peer", "message", "seconds": of the last operation}. Returns 0 unless the scenario is unknown (2).
int run_fault(int argc, char** argv, chorus::rank_id rank, chorus::rank_id size,
              std::function<chorus::any_transport()> const& make);

}  // namespace networks
