// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/carried_exactly.hpp"

#include <chorus/compress/block_integer.hpp>
#include <chorus/compress/half_cast.hpp>
#include <chorus/compress/random_k.hpp>
#include <chorus/compress/sign_bit.hpp>
#include <chorus/compress/top_k.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using bench::carried_exactly;
using bench::entries;
using bench::operation;
using bench::pattern;

TEST_CASE("what a compressor keeps bit for bit is found, the densest first; what keeps nothing has nothing") {
    for (std::uint32_t ranks : {1u, 2u, 5u}) {
        CAPTURE(ranks);
        CHECK(carried_exactly(chorus::half_cast{}, operation::sum, ranks, true, 1000) == entries{});
        CHECK(carried_exactly(chorus::block_integer{}, operation::sum, ranks, true, 1000) == entries{1, 127, false, true});
        if (ranks > 1)  // the dense numbers of one rank alone go up to 7
            CHECK(carried_exactly(chorus::block_integer{.bits = 4}, operation::sum, ranks, true, 1000) == entries{1, 7, false, true});
        CHECK(carried_exactly(chorus::sign_bit{}, operation::sum, ranks, true, 1000)->spacing == 1);
        auto const of_few = carried_exactly(chorus::top_k{0.01}, operation::sum, ranks, true, 20'000);
        REQUIRE(of_few);
        CHECK(of_few->spacing > 100);
        CHECK(!carried_exactly(chorus::random_k{}, operation::sum, ranks, true, 20'000));
    }
}

TEST_CASE("entries: one rank's at most at each element, all at one place of a stretch, in every call elsewhere; their sum is theirs") {
    for (entries const& of : bench::tried_entries)
        for (std::uint32_t ranks : {1u, 3u, 7u}) {
            if (of.spacing == 0) continue;
            pattern const p{operation::sum, ranks, of};
            CHECK(p.length() == of.spacing * pattern::period);
            std::uint64_t many = 0, wrong = 0;
            for (std::uint64_t i = 0; i < p.length(); ++i) {
                std::uint32_t owners = 0;
                int sum = 0;
                for (std::uint32_t r = 0; r < ranks; ++r) {
                    int const value = p.value(r, i, 3);
                    bool const is_entry = value == of.value || (of.has_signs && value == -of.value);
                    wrong += (value != 0 && !is_entry) || value == p.foreign();
                    owners += value != 0;
                    sum += value;
                }
                wrong += owners > 1 || p.reduced(0, ranks, i, 3) != sum;
                many += owners;
            }
            CHECK(wrong == 0);
            CHECK(many == pattern::period);
        }
    pattern const mean{operation::mean, 4, {1, 7, false, false}};
    CHECK(mean.reduced(0, 4, 5, 0) == 7);
}
