// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/compressors.hpp"

#include <set>
#include <string_view>
#include <tuple>

#include <doctest/doctest.h>

TEST_CASE("every compressor of the list has a name of its own") {
    std::set<std::string_view> names;
    std::apply([&](auto const&... each) { (names.insert(each.name), ...); }, chorus::compressors{});
    CHECK(names.size() == std::tuple_size_v<chorus::compressors>);
}
