// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "settings.hpp"

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace bench {

/// What numbers depend on besides the settings: processor, caches, system, compiler, flags, commit, version.
nlohmann::json describe_build_and_machine();

/// The same in one line.
std::string build_and_machine_in_words();

/// Now, as 2026-01-31T12:00:00Z.
std::string now_in_words();

nlohmann::json to_json(carried_facts const& found);

/// Settings, machine and rows as one JSON object. Throws std::runtime_error.
void write_json(settings const& asked, endpoint const& net, std::vector<row> const& rows);

/// The rows, one a line, with a heading; the machine in lines that begin with #.
std::string to_csv(settings const& asked, endpoint const& net, std::vector<row> const& rows);

}  // namespace bench
