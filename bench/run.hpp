// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "settings.hpp"

namespace bench {

/// Starts the ranks, measures what is asked for, prints the table and writes the records. Returns 0, or 1 if a result was
/// wrong or a floor was missed, after all is done. Throws what could not be done.
int run(settings const& asked);

}  // namespace bench
