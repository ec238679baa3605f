// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

namespace CLI {
class App;
}

namespace bench {

/// Adds the command `explain`: what automatic chooses for each size, which row of a table or model decided, and what
/// the others would take.
void add_explain(CLI::App& app);

}  // namespace bench
