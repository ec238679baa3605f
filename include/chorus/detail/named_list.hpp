// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace chorus::detail {

/// The names of the types of a std::tuple, in its order.
template <class List>
std::vector<std::string_view> names_in() {
    return []<class... Each>(std::type_identity<std::tuple<Each...>>) {
        return std::vector<std::string_view>{Each::name...};
    }(std::type_identity<List>{});
}

/// What is told about a name that is none of those known.
template <class Names>
std::string none_named(std::string_view kind, std::string_view asked, Names const& known) {
    std::string told = "there is no ";
    told.append(kind).append(" \"").append(asked).append("\"; there are ");
    bool is_first = true;
    for (std::string_view const name : known) {
        if (!is_first) told += ", ";
        told += name;
        is_first = false;
    }
    return told;
}

}  // namespace chorus::detail
