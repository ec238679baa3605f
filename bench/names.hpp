// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Cuts "ring,hierarchical(inside=ring, between=direct)" at the commas outside parentheses; blanks around a name do not
/// count. Throws std::invalid_argument for empty names and unbalanced parentheses.
inline std::vector<std::string> split_names(std::string_view text) {
    std::vector<std::string> names(1);
    int depth = 0;
    for (char c : text) {
        if (c == '(') ++depth;
        if (c == ')' && --depth < 0) break;
        if (c == ',' && depth == 0) names.emplace_back();
        else names.back() += c;
    }
    bool complete = depth == 0;
    for (std::string& name : names) {
        auto const first = name.find_first_not_of(' ');
        complete = complete && first != std::string::npos;
        if (complete) name = name.substr(first, name.find_last_not_of(' ') - first + 1);
    }
    if (!complete)
        throw std::invalid_argument{"'" + std::string{text} + "' is not a list of names separated by commas"};
    return names;
}

}  // namespace bench
