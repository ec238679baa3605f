// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "arguments.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace bench {

/// Bytes per second of a link: "1Gbit", "100Mbit", "2.5Gbit", "12GB"; powers of 1000, either case but for bit and B. Throws
/// std::invalid_argument.
inline double parse_link(std::string const& text) {
    constexpr std::pair<std::string_view, double> units[] = {{"kbit", 125.0}, {"Kbit", 125.0}, {"Mbit", 125e3}, {"mbit", 125e3}, {"Gbit", 125e6},
                                                             {"gbit", 125e6}, {"KB", 1e3},     {"MB", 1e6},     {"GB", 1e9}};
    for (auto const& [unit, bytes] : units) {
        if (!text.ends_with(unit)) continue;
        double const rate = parse_real(text.substr(0, text.size() - unit.size()), "Kbit, Mbit, Gbit, KB, MB or GB per second") * bytes;
        if (rate > 0) return rate;
    }
    throw std::invalid_argument{"'" + text + "' is not the rate of a link, such as 1Gbit or 12GB"};
}

}  // namespace bench
