// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/detail/any_ticket.hpp"

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

using chorus::detail::any_ticket;

namespace {

any_ticket holding(std::shared_ptr<int> value) {
    return any_ticket{std::in_place_type<std::shared_ptr<int>>, std::move(value)};
}

struct largest {
    std::byte content[any_ticket::capacity];
};

}  // namespace

TEST_CASE("what is inside lives exactly as long as the ticket, however it moves") {
    auto const value = std::make_shared<int>(7);
    {
        any_ticket first = holding(value);
        CHECK(value.use_count() == 2);
        any_ticket second{std::move(first)};
        CHECK(first.is_empty());
        CHECK(value.use_count() == 2);
        CHECK(*second.as<std::shared_ptr<int>>() == 7);
        auto const other = std::make_shared<int>(8);
        any_ticket third = holding(other);
        third = std::move(second);
        CHECK(other.use_count() == 1);
        CHECK(value.use_count() == 2);
        any_ticket& same = third;
        third = std::move(same);
        CHECK(*third.as<std::shared_ptr<int>>() == 7);
        third = any_ticket{};
        CHECK(third.is_empty());
        CHECK(value.use_count() == 1);
        first = holding(value);
        first.reset();
        first.reset();
        CHECK(value.use_count() == 1);
        first = holding(value);
    }
    CHECK(value.use_count() == 1);
}

TEST_CASE("64 bytes fit, and it is movable only") {
    largest full{};
    full.content[any_ticket::capacity - 1] = std::byte{42};
    any_ticket ticket{std::in_place_type<largest>, std::move(full)};
    any_ticket moved{std::move(ticket)};
    CHECK(moved.as<largest>().content[any_ticket::capacity - 1] == std::byte{42});
    static_assert(!std::is_copy_constructible_v<any_ticket>);
    static_assert(std::is_nothrow_move_constructible_v<any_ticket>);
}
