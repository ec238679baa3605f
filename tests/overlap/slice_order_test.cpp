// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/overlap/slice_order.hpp"

#include "chorus/base/random.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using chorus::slice;
using chorus::slice_order;

namespace {

std::uint64_t const everything[4] = {~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}, ~std::uint64_t{0}};

}  // namespace

TEST_CASE("slices cover each layer once, in order, none longer than allowed and only the last shorter") {
    for (std::size_t largest : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{64}})
        for (std::size_t count = 0; count < 40; ++count) {
            std::vector<std::size_t> const counts{count, 3, 0, 2 * count + 1};
            slice_order const order{counts, largest};
            CHECK(order.layers() == counts.size());
            CHECK(order.begin(counts.size()) == order.slices().size());
            for (std::size_t layer = 0; layer < counts.size(); ++layer) {
                CHECK(order.slices_of(layer) == (counts[layer] + largest - 1) / largest);
                std::size_t end = 0;
                for (std::size_t number = order.begin(layer); number < order.begin(layer + 1); ++number) {
                    slice const s = order.slices()[number];
                    CHECK(s.layer == layer);
                    CHECK(s.first == end);
                    CHECK((s.count == largest || number + 1 == order.begin(layer + 1)));
                    CHECK((s.count > 0 && s.count <= largest));
                    end += s.count;
                }
                CHECK(end == counts[layer]);
            }
        }
    std::vector<std::size_t> const one{5};
    CHECK_THROWS_AS((slice_order{one, 0}), chorus::error);
}

TEST_CASE("what is granted is of the first layer that is ready and has slices left; each slice once, and all in the end") {
    chorus::counter_random const random{11};
    std::uint64_t draw = 0;
    for (int trial = 0; trial < 200; ++trial) {
        std::size_t const layers = 1 + static_cast<std::size_t>(random.below(draw++, 130));
        std::vector<std::size_t> counts(layers);
        for (std::size_t& c : counts) c = static_cast<std::size_t>(random.below(draw++, 9));
        slice_order order{counts, 2};
        std::vector<std::size_t> left(layers);
        for (std::size_t l = 0; l < layers; ++l) left[l] = order.slices_of(l);
        std::uint64_t ready[3] = {};
        std::size_t seen = 0;
        for (int turn = 0; turn < 2000 && order.order().size() < order.slices().size(); ++turn) {
            std::size_t const l = static_cast<std::size_t>(random.below(draw++, layers));
            ready[l / 64] |= std::uint64_t{1} << l % 64;
            std::size_t const wanted = 1 + static_cast<std::size_t>(random.below(draw++, 3));
            std::size_t const granted = order.grant(ready, wanted);
            REQUIRE(order.order().size() == seen + granted);
            std::size_t open = 0;
            for (; seen < order.order().size(); ++seen) {
                slice const s = order.slices()[order.order()[seen]];
                REQUIRE((ready[s.layer / 64] >> s.layer % 64 & 1) != 0);
                REQUIRE(left[s.layer]-- > 0);
                for (std::size_t before = 0; before < s.layer; ++before)
                    REQUIRE(((ready[before / 64] >> before % 64 & 1) == 0 || left[before] == 0));
            }
            for (std::size_t k = 0; k < layers; ++k)
                if ((ready[k / 64] >> k % 64 & 1) != 0) open += left[k];
            REQUIRE((granted == wanted || open == 0));
        }
        order.grant(everything, order.slices().size());
        std::vector<std::size_t> all(order.order().begin(), order.order().end());
        std::sort(all.begin(), all.end());
        for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(all[i] == i);
        REQUIRE(all.size() == order.slices().size());
        CHECK(order.grant(everything, 1) == 0);
        order.restart();
        CHECK(order.order().empty());
        CHECK(order.grant(everything, 1000) == order.slices().size());
        for (std::size_t i = 0; i < all.size(); ++i) REQUIRE(order.order()[i] == i);
    }
}
