// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/compressor.hpp"

#include "chorus/base/error.hpp"
#include "chorus/compress/detail/wire_header.hpp"
#include "suites/expected_error.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::detail::wire_format;
using chorus::detail::wire_header;

namespace {

/// The least compressor there is: it keeps nothing.
struct silence {
    static constexpr std::string_view name = "silence";
    silence() = default;
    silence(silence&&) = default;
    silence& operator=(silence&&) = default;
    std::size_t max_wire_bytes(std::size_t) const { return 0; }
    std::size_t encode(std::span<float const>, std::span<std::byte>) { return 0; }
    void decode(std::span<std::byte const>, std::span<float>) const {}
    void decode_add(std::span<std::byte const>, std::span<float>) const {}
    chorus::compression_promise promise(std::size_t) const { return {}; }
};
static_assert(chorus::compressor<silence>);
static_assert(!chorus::linear_compressor<silence> && !chorus::stateful_compressor<silence>);

struct nameless : silence {
    static constexpr int name = 3;
};
static_assert(!chorus::compressor<nameless>);

using message = std::array<std::byte, wire_header::bytes + 3>;

message written(wire_header const& header) {
    message wire{};
    header.write(wire);
    return wire;
}

}  // namespace

TEST_CASE("every policy for values that are not finite has its own text") {
    CHECK(to_string(chorus::nonfinite::propagate) == "propagate");
    CHECK(to_string(chorus::nonfinite::sanitise) == "sanitise");
    CHECK(to_string(chorus::nonfinite::refuse) == "refuse");
}

TEST_CASE("a header is read as it was written, at the ends of its ranges too") {
    for (std::uint64_t number : {std::uint64_t{0}, std::uint64_t{0x12345678}, wire_header::largest_number})
        for (std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0x123456789ABCDEF0}}) {
            auto const wire = written({wire_format::qsgd, 0xA5, number, count});
            auto const read = wire_header::read(wire, wire_format::qsgd, count, "qsgd");
            CHECK(read.format == wire_format::qsgd);
            CHECK(read.detail == 0xA5);
            CHECK(read.number == number);
            CHECK(read.count == count);
        }
}

TEST_CASE("the layout of a header is the same on every machine") {
    auto const wire = written({wire_format::sparse, 7, 0x0102030405, 0x060708090A0B0C0D});
    constexpr unsigned expected[] = {32, 1, 7, 5, 4, 3, 2, 1, 0x0D, 0x0C, 0x0B, 0x0A, 9, 8, 7, 6};
    for (std::size_t i = 0; i < std::size(expected); ++i) CHECK(std::to_integer<unsigned>(wire[i]) == expected[i]);
}

TEST_CASE("a message that is too short, of another format, version or count is refused, and says why") {
    auto const good = written({wire_format::half, 0, 0, 5});
    auto const refused = [](std::span<std::byte const> wire, std::size_t count, std::string_view words) {
        CHECK(suites::unlike(errc::corrupt, {words}, [&] { wire_header::read(wire, wire_format::half, count, "half_cast"); }) == "");
    };
    for (std::size_t length = 0; length < wire_header::bytes; ++length) refused(std::span{good}.first(length), 5, "the header alone has 16");
    refused(good, 6, "it stands for 5 elements, the output has 6");
    refused(written({wire_format::sparse, 0, 0, 5}), 5, "its format is 32 instead of 2");
    auto later = good;
    later[1] = std::byte{2};
    refused(later, 5, "its layout is version 2, this is 1");
    wire_header::expect_payload(good, 3, "half_cast");
    CHECK(suites::unlike(errc::corrupt, {"its payload has 3 bytes instead of 10"}, [&] { wire_header::expect_payload(good, 10, "half_cast"); }) == "");
}

TEST_CASE("an encoder that is given too little room says how much it needs") {
    std::array<std::byte, 8> wire{};
    chorus::detail::expect_room(wire, 8, "top_k");
    CHECK(suites::unlike(errc::invalid_argument, {"top_k needs room for 9 bytes and was given 8"}, [&] { chorus::detail::expect_room(wire, 9, "top_k"); }) == "");
}
