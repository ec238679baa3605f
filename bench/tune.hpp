// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

namespace CLI {
class App;
}

namespace bench {

/// Adds the command `tune`: measures which algorithm is fastest and writes a table for automatic::load, and `import`,
/// which makes one of rules for Open MPI or NCCL.
void add_tune(CLI::App& app);

}  // namespace bench
