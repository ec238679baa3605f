// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/base/byte_buffer.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

using namespace chorus;

static_assert(!std::is_copy_constructible_v<byte_buffer> && std::is_nothrow_move_constructible_v<byte_buffer>);

TEST_CASE("an empty buffer has no memory") {
    byte_buffer buffer;
    CHECK(buffer.data() == nullptr);
    CHECK(buffer.bytes() == 0);
    CHECK(buffer.span().empty());
    buffer.grow(0);
    CHECK(buffer.data() == nullptr);
}

TEST_CASE("memory is aligned, as long as asked, and all of it writable") {
    for (std::size_t bytes : {1u, 63u, 64u, 65u, 4095u, 4096u, 4097u, 100000u}) {
        byte_buffer buffer{bytes};
        CHECK(buffer.bytes() == bytes);
        CHECK(buffer.span().size() == bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % byte_buffer::alignment == 0);
        std::memset(buffer.data(), 0x5A, bytes);
        CHECK(buffer.span().back() == std::byte{0x5A});
    }
}

TEST_CASE("it grows only, and stays in place and keeps its contents where it need not") {
    byte_buffer buffer{1000};
    std::byte* const place = buffer.data();
    std::memset(place, 1, 1000);
    for (std::size_t bytes : {0u, 1u, 999u, 1000u}) {
        buffer.grow(bytes);
        CHECK(buffer.data() == place);
        CHECK(buffer.bytes() == 1000);
        CHECK(buffer.span()[999] == std::byte{1});
    }
    buffer.grow(1001);
    CHECK(buffer.bytes() == 1001);
}

TEST_CASE("a moved buffer keeps its memory") {
    byte_buffer first{100};
    std::byte* const place = first.data();
    byte_buffer const second = std::move(first);
    CHECK(second.data() == place);
    CHECK(second.bytes() == 100);
}
