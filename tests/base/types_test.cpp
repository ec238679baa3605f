// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/types.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <type_traits>

using namespace chorus;

static_assert(std::is_unsigned_v<rank_id> && std::is_unsigned_v<step_id>);
static_assert(std::numeric_limits<step_id>::digits == 64);
static_assert(nobody == (std::numeric_limits<rank_id>::max)());
static_assert(std::is_trivially_copyable_v<message_tag>);

TEST_CASE("tags are equal if both of their parts are") {
    constexpr message_tag tag{.stream = 1, .fingerprint = 2};
    static_assert(tag == message_tag{1, 2});
    CHECK(tag != message_tag{2, 2});
    CHECK(tag != message_tag{1, 3});
    CHECK(message_tag{} == message_tag{0, 0});
}

TEST_CASE("the kinds of progress are four different ones") {
    progress const all[] = {progress::idle, progress::moved, progress::done, progress::failed};
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) CHECK((all[i] == all[j]) == (i == j));
}
