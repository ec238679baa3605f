// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "settings.hpp"

namespace bench {

/// Starts the ranks, measures what is asked for, prints the table and writes the record. Throws std::exception, if a
/// result was wrong after all is done, and then on no rank before.
void run(settings const& asked);

}  // namespace bench
