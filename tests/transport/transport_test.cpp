// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/transport.hpp"

#include "archetypes/least_transport.hpp"
#include "chorus/transport/self.hpp"
#include "chorus/transport/simulated.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include <doctest/doctest.h>

namespace {

struct returns_wrong_ticket {
    struct ticket {};
    chorus::rank_id rank() const noexcept { return 0; }
    chorus::rank_id size() const noexcept { return 1; }
    int post_send(chorus::rank_id, chorus::message_tag, std::span<std::byte const>) { return 0; }
    ticket post_recv(chorus::rank_id, chorus::message_tag, std::span<std::byte>) { return {}; }
    chorus::progress poll(ticket&) noexcept { return chorus::progress::done; }
};

struct poll_may_throw {
    struct ticket {};
    chorus::rank_id rank() const noexcept { return 0; }
    chorus::rank_id size() const noexcept { return 1; }
    ticket post_send(chorus::rank_id, chorus::message_tag, std::span<std::byte const>) { return {}; }
    ticket post_recv(chorus::rank_id, chorus::message_tag, std::span<std::byte>) { return {}; }
    chorus::progress poll(ticket&) { return chorus::progress::done; }
};

// Texts, so that the order of operands shows: out = "(left right)", four letters an element.
void append(std::byte* out, std::byte const* left, std::byte const* right, std::size_t count, void const*) {
    for (std::size_t i = 0; i < count; ++i) {
        unsigned const first = static_cast<unsigned>(left[i]);
        unsigned const second = static_cast<unsigned>(right[i]);
        out[i] = static_cast<std::byte>((2 * first + second) & 0xFFu);
    }
}

}  // namespace

TEST_CASE("the concept asks for neither more nor less than it says") {
    static_assert(chorus::transport<archetypes::least_transport>);
    static_assert(!chorus::reducing_transport<archetypes::least_transport>);
    static_assert(!chorus::aborting_transport<archetypes::least_transport>);
    static_assert(!chorus::explaining_transport<archetypes::least_transport>);
    static_assert(!chorus::resting_transport<archetypes::least_transport>);
    static_assert(!chorus::announcing_transport<archetypes::least_transport>);
    static_assert(!chorus::transport<returns_wrong_ticket>);
    static_assert(!chorus::transport<poll_may_throw>);
    static_assert(!chorus::transport<int>);
    static_assert(!std::is_copy_constructible_v<archetypes::least_transport>);
    static_assert(!std::is_copy_constructible_v<archetypes::least_transport::ticket>);
    static_assert(!chorus::resting_transport<chorus::simulated_transport>);
    CHECK(std::is_trivially_copyable_v<chorus::operation_record>);
    CHECK(sizeof(chorus::operation_record) == 128);
}

TEST_CASE("a reduce target combines whole elements on the side it names, in any cut") {
    std::array<std::byte, 6> mine{};
    std::array<std::byte, 6> arrived{};
    for (std::size_t i = 0; i < 6; ++i) {
        mine[i] = static_cast<std::byte>(i + 1);
        arrived[i] = static_cast<std::byte>(10 * i + 3);
    }
    for (std::size_t element : {std::size_t{1}, std::size_t{2}, std::size_t{3}}) {
        // A element of several bytes is `append`ed byte by byte here: count says how many elements.
        chorus::byte_reduction const by_bytes{
            .apply =
                [](std::byte* out, std::byte const* left, std::byte const* right, std::size_t count, void const* op) {
                    append(out, left, right, count * *static_cast<std::size_t const*>(op), nullptr);
                },
            .op = &element,
            .element_bytes = element};
        for (bool left : {false, true}) {
            for (std::size_t cut = 0; cut <= 6; cut += element) {
                std::array<std::byte, 6> out{};
                chorus::reduce_target const into{out.data(), mine.data(), 6, left, &by_bytes};
                into.combine(0, arrived.data(), cut);
                into.combine(cut, arrived.data() + cut, 6 - cut);
                for (std::size_t i = 0; i < 6; ++i) {
                    unsigned const m = static_cast<unsigned>(mine[i]);
                    unsigned const a = static_cast<unsigned>(arrived[i]);
                    CHECK(static_cast<unsigned>(out[i]) == (left ? 2 * a + m : 2 * m + a));
                }
            }
        }
    }
}
