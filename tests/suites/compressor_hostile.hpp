// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#pragma once

#include "chorus/base/error.hpp"
#include "chorus/base/random.hpp"
#include "chorus/compress/compressor.hpp"
#include "suites/compressor_vectors.hpp"
#include "suites/guarded.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace suites {

using message_bytes = std::vector<std::byte>;

/// What decode and decode_add do with the bytes: "" if both decode or both raise `corrupt` before touching the output.
/// The bytes lie at the end of an allocation of their own, so that a sanitizer sees any read behind them.
template <class C>
std::string answer_to(C const& c, message_bytes const& wire, std::size_t count, bool& is_refused) {
    auto const received = std::make_unique<std::byte[]>(wire.size());
    std::copy(wire.begin(), wire.end(), received.get());
    bool refused[2] = {false, false};
    for (int adds = 0; adds < 2; ++adds) {
        guarded<float> out{count};
        std::fill(out.span().begin(), out.span().end(), 12345.0f);
        try {
            std::span<std::byte const> const message{received.get(), wire.size()};
            if (adds) c.decode_add(message, out.span());
            else c.decode(message, out.span());
        } catch (chorus::error const& thrown) {
            if (thrown.code() != chorus::errc::corrupt) return thrown.what();
            refused[adds] = true;
        }
        if (!out.is_intact()) return "memory outside the output was written";
        auto const is_as_before = [](float v) { return v == 12345.0f; };
        if (refused[adds] && !std::all_of(out.span().begin(), out.span().end(), is_as_before))
            return "the output was touched before the message was refused";
    }
    is_refused = refused[0];
    return refused[0] == refused[1] ? "" : "decode and decode_add disagree whether the message is corrupt";
}

template <class C>
void check_hostile(C const& prototype, floats const& x) {
    C c = prototype;
    message_bytes good(c.max_wire_bytes(x.size()));
    good.resize(c.encode(x, good));
    auto must = [&](message_bytes const& wire, bool refuse, std::string const& what) {
        bool is_refused = false;
        std::string const wrong = answer_to(c, wire, x.size(), is_refused);
        if (!wrong.empty() || (refuse && !is_refused)) FAIL_CHECK(what << ": " << (wrong.empty() ? "decoded" : wrong));
    };
    auto first = [&](std::size_t length) { return message_bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length)); };

    std::size_t const stride = good.size() < 2000 ? 1 : good.size() / 500;
    for (std::size_t length = 0; length < good.size(); length += length < 64 ? 1 : stride)
        must(first(length), true, "cut to " + std::to_string(length));
    for (std::size_t more : {1u, 2u, 4u, 1000u}) {
        message_bytes longer = good;
        longer.resize(good.size() + more);
        must(longer, true, "longer by " + std::to_string(more));
    }
    for (std::size_t at = 0; at < 16 && at < good.size(); ++at)
        for (unsigned change = 1; change < 256; change += change < 32 ? 1 : 13) {
            message_bytes changed = good;
            changed[at] ^= static_cast<std::byte>(change);
            must(changed, at < 2 || at >= 8, "header byte " + std::to_string(at) + " changed by " + std::to_string(change));
        }
    chorus::counter_random const random{x.size(), 0xBAD};
    int const mutations = x.size() > 2000 ? 100 : 600;
    for (int i = 0; i < mutations && !good.empty(); ++i) {
        message_bytes changed = good;
        std::uint64_t draw = static_cast<std::uint64_t>(i) * 16;
        for (std::uint64_t many = 1 + random.below(draw++, 4); many > 0; --many) {
            std::size_t const at = random.below(draw++, changed.size());
            changed[at] = static_cast<std::byte>(random.bits(draw++) & 0xFF);
        }
        if (i % 4 == 0) changed.resize(random.below(draw, 2 * good.size() + 2));
        must(changed, false, "mutation " + std::to_string(i));
    }
}

}  // namespace suites
