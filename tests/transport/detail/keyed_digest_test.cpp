// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/detail/keyed_digest.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

using chorus::detail::digest;

namespace {

std::string hexadecimal(digest const& value) {
    constexpr std::string_view digits{"0123456789abcdef"};
    std::string text;
    for (std::byte b : value) {
        text += digits[std::to_integer<std::size_t>(b >> 4)];
        text += digits[std::to_integer<std::size_t>(b & std::byte{15})];
    }
    return text;
}

auto bytes_of(std::string_view text) { return std::as_bytes(std::span{text.data(), text.size()}); }

std::string hash(std::string_view text) {
    chorus::detail::sha256 hashing;
    hashing.add(bytes_of(text));
    return hexadecimal(hashing.finish());
}

}  // namespace

TEST_CASE("the published values of SHA-256") {
    CHECK(hash("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(hash("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    CHECK(hash(std::string(1000000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("pieces do not matter") {
    std::string const text(200, 'x');
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        chorus::detail::sha256 hashing;
        hashing.add(bytes_of(std::string_view{text}.substr(0, cut)));
        hashing.add(bytes_of(std::string_view{text}.substr(cut)));
        CHECK(hexadecimal(hashing.finish()) == hash(text));
    }
}

TEST_CASE("the published values of HMAC-SHA-256 (RFC 4231, cases 1, 2, 3, 6)") {
    auto const keyed = [](std::string_view key, std::string_view text) {
        return hexadecimal(chorus::detail::keyed_digest(key, bytes_of(text)));
    };
    CHECK(keyed(std::string(20, '\x0b'), "Hi There") ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(keyed("Jefe", "what do ya want for nothing?") ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(keyed(std::string(20, '\xaa'), std::string(50, '\xdd')) ==
          "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
    CHECK(keyed(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First") ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("equal is equal in every byte") {
    digest const one{};
    for (std::size_t i = 0; i < one.size(); ++i) {
        digest other = one;
        other[i] = std::byte{1};
        CHECK(!chorus::detail::is_same(one, other));
    }
    CHECK(chorus::detail::is_same(one, digest{}));
}
