// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#pragma once

#include "settings.hpp"

namespace bench {

// Measure what is asked for, print the table and write the record. Throw if a result was wrong, after all is done.
// One source file each, since each instantiates the collectives for every element and operation.

void run_on_threads(settings const& asked);
void run_on_processes(settings const& asked);

}  // namespace bench
