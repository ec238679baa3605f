// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/call_shape.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using bench::call_shape;
using chorus::collective;

TEST_CASE("a cut has a block per rank and covers all, and uneven ones grow with the rank") {
    for (collective what : {collective::all_gather, collective::reduce_scatter, collective::all_to_all})
        for (chorus::rank_id ranks : {1u, 2u, 3u, 7u, 16u})
            for (std::uint64_t count : {0u, 1u, 5u, 136u, 1000u})
                for (bool uneven : {false, true}) {
                    call_shape const shape{.what = what, .ranks = ranks, .count = count, .uneven = uneven};
                    for (chorus::rank_id r = 0; r < ranks; ++r) {
                        chorus::blocks const cut = shape.cut(r);
                        REQUIRE(cut.parts() == ranks);
                        REQUIRE(cut.count() == count);
                        // what r sends to b is as long as what b expects from r
                        if (what == collective::all_to_all && uneven)
                            for (chorus::rank_id b = 0; b < ranks; ++b) REQUIRE(cut.length(b) == shape.cut(b).length(r));
                    }
                    if (uneven && count == 136 && ranks == 16) CHECK(shape.cut(0).length(15) == 16);
                }
}
