// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/transport/detail/ordered_arrivals.hpp"

#include "chorus/base/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include <doctest/doctest.h>

using chorus::rank_id;
using chorus::detail::arrival;
using chorus::detail::arrival_copies;
using chorus::detail::arrival_prefix;
using chorus::detail::ordered_arrivals;

namespace {

struct message {
    arrival_prefix prefix;
    std::uint32_t serial = 0;
};

message numbered(rank_id from, std::uint32_t serial) { return {{from, serial % 5 == 0, serial}, serial}; }

std::uint32_t serial_of(arrival const& came) {
    std::uint32_t serial = 0;
    std::memcpy(&serial, came.body().data(), sizeof serial);
    return serial;
}

}  // namespace

TEST_CASE("a prefix keeps what it is given") {
    for (rank_id const sender : {0u, 1u, 1000u, arrival_prefix::most_ranks - 1})
        for (bool const is_note : {false, true})
            for (std::uint32_t const number : {0u, 1u, 4095u, 4096u, 1'000'000u}) {
                arrival_prefix const prefix{sender, is_note, number};
                CHECK(prefix.sender() == sender);
                CHECK(prefix.is_note() == is_note);
                CHECK(prefix.number() == number % arrival_prefix::numbers);
            }
}

TEST_CASE("whatever the order of arrival, each sender's messages come in its order") {
    constexpr rank_id senders = 3;
    constexpr std::uint32_t many = 10'000;
    constexpr std::uint64_t window = 40;  // how far a message may be overtaken
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        chorus::counter_random const random{seed};
        std::uint64_t draws = 0;
        std::deque<message> made;
        std::vector<std::vector<message*>> on_the_way(senders);
        std::vector<std::uint32_t> sent(senders);
        std::vector<std::uint32_t> heard(senders);
        ordered_arrivals inbox{senders};
        bool in_order = true;
        std::size_t taken = 0;
        auto const hear = [&](arrival const& came) {
            rank_id const from = came.prefix.sender();
            in_order = in_order && serial_of(came) == heard[from]++;
            if (!came.prefix.is_note()) inbox.append(came);
        };
        while (taken < many * senders) {
            auto const from = static_cast<rank_id>(random.below(draws++, senders));
            auto& way = on_the_way[from];
            while (way.size() < window && sent[from] < many) {
                made.push_back(numbered(from, sent[from]++));
                way.push_back(&made.back());
            }
            if (way.empty()) continue;
            auto const pick = way.begin() + static_cast<std::ptrdiff_t>(random.below(draws++, (std::min)(way.size(), std::size_t{window})));
            inbox.take(arrival::of(*pick, sizeof(message)), hear);
            way.erase(pick);
            ++taken;
            if (random.below(draws++, 3) == 0)
                while (!inbox.empty()) inbox.pop();
        }
        CHECK(in_order);
        for (rank_id p = 0; p < senders; ++p) CHECK(heard[p] == many);
    }
}

TEST_CASE("what is kept is counted, shown first in first out, and given back at the end") {
    std::deque<message> made;
    ordered_arrivals inbox{2};
    auto const keep = [&](arrival const& came) { inbox.append(came); };
    auto const come = [&](rank_id from, std::uint32_t serial) {
        made.push_back({{from, false, serial}, serial});
        inbox.take(arrival::of(&made.back(), sizeof(message)), keep);
    };
    come(0, 0);
    come(1, 1);
    CHECK(inbox.waiting_of(0) == 1);
    CHECK(inbox.waiting_of(1) == 0);
    come(1, 0);
    CHECK(inbox.waiting_of(1) == 2);
    CHECK(inbox.front().prefix.sender() == 0);
    inbox.pop();
    CHECK(inbox.waiting_of(0) == 0);
    CHECK(serial_of(inbox.front()) == 0);
    come(0, 3);  // never delivered: 1 and 2 do not come
    std::size_t back = 0;
    inbox.drain([&](arrival const&) { ++back; });
    CHECK(back == 3);
    CHECK(inbox.empty());
}

TEST_CASE("a copy is what was copied, of every length, aligned or not, and stays so while others come and go") {
    arrival_copies copies;
    std::vector<std::byte> original(400);
    for (std::size_t i = 0; i < original.size(); ++i) original[i] = static_cast<std::byte>(i * 7 + 1);
    for (std::size_t round = 0; round < 2; ++round)
        for (std::size_t offset : {0u, 1u, 3u}) {
            std::vector<void*> kept;
            for (std::size_t bytes = 1; bytes < 300; ++bytes) kept.push_back(copies.keep(original.data() + offset, bytes));
            for (std::size_t bytes = 1; bytes < 300; ++bytes) {
                CHECK(std::memcmp(kept[bytes - 1], original.data() + offset, bytes) == 0);
                copies.give_back(kept[bytes - 1], bytes);
            }
        }
}
