// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/detail/sparse_wire.hpp"

#include "chorus/base/random.hpp"
#include "suites/expected_error.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;
using chorus::index_layout;
using chorus::detail::packed_indices;
using chorus::detail::sparse_message;
using chorus::detail::sparse_wire;
using chorus::detail::sparse_writer;

namespace {

using bytes = std::vector<std::byte>;

struct entries {
    std::vector<std::uint32_t> indices;
    std::vector<float> values;
    friend bool operator==(entries const&, entries const&) = default;
};

/// Each of `count` elements with the probability `share`.
entries drawn(std::size_t count, double share, std::uint64_t seed) {
    chorus::counter_random const random{seed};
    entries made;
    for (std::size_t i = 0; i < count; ++i)
        if (random.unit(i) < share) {
            made.indices.push_back(static_cast<std::uint32_t>(i));
            made.values.push_back(static_cast<float>(random.below(i, 2001)) - 1000.0f);
        }
    return made;
}

/// Added in pieces of different lengths.
bytes written(entries const& all, index_layout layout, std::size_t count) {
    bytes wire(sparse_wire::max_bytes(layout, all.indices.size(), count));
    sparse_writer writer{wire, layout, all.indices.size(), count};
    for (std::size_t at = 0, piece = 1; at < all.indices.size(); at += piece++) {
        std::size_t const many = (std::min)(piece, all.indices.size() - at);
        writer.add(std::span{all.indices}.subspan(at, many), std::span{all.values}.subspan(at, many));
    }
    std::size_t const used = writer.finish();
    REQUIRE(used <= wire.size());
    wire.resize(used);
    return wire;
}

entries read(bytes const& wire, std::size_t count) {
    sparse_message const message = sparse_message::read(wire, count, "test");
    entries all;
    all.indices.resize(message.entries());
    all.values.resize(message.entries());
    message.copy(all.indices.data(), all.values.data());
    return all;
}

bytes of(index_layout layout, std::vector<std::uint32_t> indices, std::size_t count) {
    return written({indices, std::vector<float>(indices.size(), 1.0f)}, layout, count);
}

std::string refused(bytes const& wire, std::size_t count, std::initializer_list<std::string_view> words = {}) {
    return suites::unlike(errc::corrupt, words, [&] { sparse_message::read(wire, count, "test"); });
}

/// The same bytes, said to stand for `count` elements.
bytes claimed(bytes wire, std::size_t count) {
    for (std::size_t i = 0; i < 8; ++i) wire[8 + i] = static_cast<std::byte>(count >> 8 * i & 0xFF);
    return wire;
}

/// The position of the indices in a message of so many entries.
std::size_t indices_at(std::size_t many) { return 16 + 4 * many; }

constexpr index_layout both[] = {index_layout::plain, index_layout::packed};

}  // namespace

TEST_CASE("entries are read as they were written, in both layouts, whatever their number") {
    for (index_layout layout : both) {
        for (std::size_t count : {0u, 1u, 2u, 127u, 128u, 129u, 257u, 5000u, 70000u})
            for (double share : {0.0, 0.001, 0.05, 0.6, 1.0}) {
                entries const all = drawn(count, share, count + 3);
                bytes const wire = written(all, layout, count);
                bool const is_same = read(wire, count) == all;
                CHECK_MESSAGE(is_same, count, " elements, share ", share);
                std::vector<float> expected(count, 0.5f), out(count, 9.0f);
                sparse_message::read(wire, count, "test").decode(out);
                for (std::size_t i = 0; i < all.indices.size(); ++i) {
                    expected[all.indices[i]] += all.values[i];
                    out[all.indices[i]] -= all.values[i];
                }
                bool const is_decoded = out == std::vector<float>(count);
                CHECK(is_decoded);
                out.assign(count, 0.5f);
                sparse_message::read(wire, count, "test").decode_add(out);
                bool const is_added = out == expected;
                CHECK(is_added);
            }
    }
}

TEST_CASE("every gap that 32 bits can hold is packed without loss") {
    constexpr std::size_t count = sparse_wire::largest_count;
    for (unsigned bit = 0; bit < 32; ++bit)
        for (std::uint32_t low : {0u, 1u}) {
            std::uint32_t const first = (1u << bit) - low;
            if (first >= count - 200) continue;
            std::vector<std::uint32_t> indices{first};
            for (std::uint32_t i = 1; i < 150; ++i) indices.push_back(first + i);
            for (index_layout layout : both) {
                bool const is_same = read(of(layout, indices, count), count).indices == indices;
                CHECK_MESSAGE(is_same, "first ", first);
            }
        }
    CHECK(read(of(index_layout::packed, {0xFFFFFFFE}, count), count).indices[0] == 0xFFFFFFFE);
}

TEST_CASE("packed indices have as many bits as the widest gap of their block, and no more than promised") {
    std::vector<std::uint32_t> every, third;
    for (std::uint32_t i = 0; i < 256; ++i) {
        every.push_back(i);
        third.push_back(3 * i + 2);
    }
    CHECK(of(index_layout::packed, every, 1000).size() == indices_at(256) + 2);
    CHECK(of(index_layout::packed, third, 1000).size() == indices_at(256) + 2 + 2 * 32);
    CHECK(sparse_wire::max_bytes(index_layout::packed, 256, 1000) == indices_at(256) + 2 + 256 * 10 / 8);
    CHECK(sparse_wire::max_bytes(index_layout::plain, 256, 1000) == indices_at(256) + 1024);
    CHECK(sparse_wire::max_bytes(index_layout::packed, 0, 0) == 16);
}

TEST_CASE("the layout is the same on every machine") {
    auto const hex = [](bytes const& wire) {
        std::string text;
        for (std::byte b : wire)
            for (unsigned shift : {4u, 0u}) text += "0123456789abcdef"[std::to_integer<unsigned>(b) >> shift & 15];
        return text;
    };
    entries const three{{1, 2, 9}, {1.0f, -2.0f, 0.5f}};
    std::string const header = "010003000000000a00000000000000", values = "0000803f000000c00000003f";
    CHECK(hex(written(three, index_layout::plain, 10)) == "20" + header.substr(0, 14) + header.substr(14) + values + "010000000200000009000000");
    // Gaps 1, 0, 6 of 3 bits: 001, 000, 110 from the lowest bit up.
    CHECK(hex(written(three, index_layout::packed, 10)) == "23" + header + values + "03" + "8101");
    CHECK(hex(written({}, index_layout::packed, 10)).substr(0, 2) == "20");
}

TEST_CASE("indices that repeat, descend or leave the vector are refused") {
    std::vector<std::vector<std::uint32_t>> const wrong{{3, 3}, {5, 4}, {0, 1, 1, 2}, {10}, {4, 10}, {0xFFFFFFFF}, {9, 0xFFFFFFFF}};
    for (auto const& indices : wrong) CHECK(refused(of(index_layout::plain, indices, 10), 10, {"test", "indices"}) == "");
    for (std::vector<std::uint32_t> const& indices : {std::vector<std::uint32_t>{10}, {4, 10}, {0xFFFFFFFF}})
        CHECK(refused(claimed(of(index_layout::packed, indices, sparse_wire::largest_count), 10), 10, {"test", "beyond the vector"}) == "");
    std::vector<std::uint32_t> many(400, 0);
    for (std::uint32_t i = 0; i < 400; ++i) many[i] = i;
    many[399] = 400;
    for (index_layout layout : both) CHECK(refused(claimed(of(layout, many, 401), 400), 400, {"indices"}) == "");
}

TEST_CASE("packed indices have one form: no wider, nothing behind them") {
    bytes const good = of(index_layout::packed, {1, 3, 6}, 10);  // gaps 1, 1, 2: two bits each, in one byte
    REQUIRE(good.size() == indices_at(3) + 2);
    auto const changed = [&](std::size_t at, unsigned to) {
        bytes wire = good;
        wire[indices_at(3) + at] = static_cast<std::byte>(to);
        return wire;
    };
    CHECK(refused(changed(1, 0x65), 10, {"packed"}) == "");
    CHECK(refused(changed(1, 0x15), 10, {"packed"}) == "");  // gaps 1, 1, 1 need one bit
    CHECK(refused(changed(0, 1), 10, {"packed"}) == "");
    CHECK(refused(changed(0, 33), 10, {"32 bits"}) == "");
    CHECK(refused(changed(0, 3), 10, {"length"}) == "");
    bytes none = of(index_layout::plain, {}, 10);
    none[0] = std::byte{35};
    CHECK(refused(none, 10, {"no indices"}) == "");
}

TEST_CASE("a message of nothing but NaN has no entries") {
    bytes wire(16);
    CHECK(sparse_writer::write_all_nan(wire, 3) == 16);
    sparse_message const message = sparse_message::read(wire, 3, "test");
    CHECK((message.is_all_nan() && message.entries() == 0));
    for (bool adds : {false, true}) {
        std::vector<float> out(3, 1.0f);
        if (adds) message.decode_add(out);
        else message.decode(out);
        for (float v : out) CHECK(v != v);
    }
    CHECK(refused(wire, 4) == "");
    wire[2] = std::byte{2};
    CHECK(refused(wire, 3, {"byte 2"}) == "");
    bytes full = of(index_layout::plain, {1}, 3);
    full[2] = std::byte{1};
    CHECK(refused(full, 3, {"byte 2"}) == "");
}

TEST_CASE("more entries than elements, or another length than they have, is refused") {
    for (index_layout layout : both) {
        bytes wire = of(layout, {0, 1, 2}, 3);
        CHECK(refused(wire, 2) == "");
        wire[3] = std::byte{4};
        CHECK(refused(wire, 3, {"more entries"}) == "");
        wire[3] = std::byte{2};
        CHECK(refused(wire, 3) == "");
        wire[3] = std::byte{3};
        wire.push_back(std::byte{0});
        CHECK(refused(wire, 3) == "");
    }
}
