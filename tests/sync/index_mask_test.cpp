// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/index_mask.hpp"

#include "suites/expected_error.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include <doctest/doctest.h>

using chorus::errc;

namespace {

using numbers = std::vector<std::uint64_t>;

numbers at(auto const& mask, chorus::step_id step, std::uint64_t count) {
    numbers indices{77, 78, 79};
    mask.at(step, count, indices);
    return indices;
}

numbers upto(std::uint64_t count) {
    numbers all(count);
    for (std::uint64_t i = 0; i < count; ++i) all[i] = i;
    return all;
}

/// The union of the masks of a period, from `first` on, sorted, and the longest and shortest mask.
template <class Mask>
void covers_once(Mask const& mask, chorus::step_id first, std::uint64_t count) {
    numbers all;
    std::size_t longest = 0, shortest = count;
    for (chorus::step_id t = first; t < first + mask.period(); ++t) {
        numbers const one = at(mask, t, count);
        longest = (std::max)(longest, one.size());
        shortest = (std::min)(shortest, one.size());
        all.insert(all.end(), one.begin(), one.end());
    }
    std::sort(all.begin(), all.end());
    CHECK_MESSAGE(all == upto(count), Mask::name, " of ", count);
    CHECK(longest - shortest <= 1);
}

}  // namespace

TEST_CASE("the masks of a cycle cover every index once, at every count, whatever the share") {
    for (double keep : {1.0, 0.5, 0.3, 0.25, 0.1, 0.005})
        for (std::uint64_t count : {0u, 1u, 2u, 3u, 7u, 8u, 9u, 63u, 64u, 65u, 100u, 1000u, 1025u})
            for (chorus::step_id round : {0u, 1u, 5u}) {
                chorus::shuffled_chunks const fixed{keep, 3};
                chorus::reshuffled_chunks const fresh{keep, 3};
                covers_once(fixed, round * fixed.period(), count);
                covers_once(fresh, round * fresh.period(), count);
                CHECK(fixed.period() == static_cast<chorus::step_id>(std::ceil(1 / keep)));
            }
}

TEST_CASE("one order comes again each cycle, or never; it is shuffled, and drawn by the seed") {
    chorus::shuffled_chunks const fixed{0.1, 3};
    chorus::reshuffled_chunks const fresh{0.1, 3};
    for (chorus::step_id t = 0; t < 10; ++t) {
        CHECK(at(fixed, t, 1000) == at(fixed, t + 10, 1000));
        CHECK(at(fresh, t, 1000) != at(fresh, t + 10, 1000));
        CHECK(at(fixed, t, 1000) != at(chorus::shuffled_chunks{0.1, 4}, t, 1000));
        numbers const some = at(fixed, t, 1000);
        CHECK(!std::is_sorted(some.begin(), some.end()));
    }
    // every place of a short order holds every number about equally often
    constexpr int draws = 6000;
    int hits[5][5] = {};
    for (std::uint64_t seed = 0; seed < draws; ++seed) {
        numbers const order = at(chorus::shuffled_chunks{1.0, seed}, 0, 5);
        for (std::size_t place = 0; place < 5; ++place) ++hits[place][order[place]];
    }
    for (auto const& place : hits)
        for (int hit : place) CHECK(std::abs(hit - draws / 5) < 5 * 31);  // five standard deviations
}

TEST_CASE("coins: ascending indices, the declared share, other ones each step, all at share 1") {
    for (double keep : {0.5, 0.3, 0.01}) {
        chorus::bernoulli_mask const coins{keep, 9};
        CHECK(coins.period() == 0);
        constexpr std::uint64_t count = 200'003;
        numbers const some = at(coins, 4, count);
        CHECK(std::is_sorted(some.begin(), some.end()));
        CHECK(std::adjacent_find(some.begin(), some.end()) == some.end());
        CHECK(some.back() < count);
        double const deviation = std::sqrt(keep * (1 - keep) * count);
        CHECK(std::abs(static_cast<double>(some.size()) - keep * count) < 5 * deviation);
        CHECK(some == at(coins, 4, count));
        numbers both;
        numbers const others = at(coins, 5, count);
        std::set_intersection(some.begin(), some.end(), others.begin(), others.end(), std::back_inserter(both));
        CHECK(std::abs(static_cast<double>(both.size()) - keep * keep * count) < 5 * std::sqrt(keep * keep * count));
        numbers const fewer = at(coins, 4, 1000);  // a longer vector has the same coins at its beginning
        CHECK(std::equal(fewer.begin(), fewer.end(), some.begin()));
    }
    chorus::bernoulli_mask const all{1.0, 9};
    CHECK(at(all, 3, 130) == upto(130));
    CHECK(at(all, 3, 0).empty());
}

TEST_CASE("shares that are none are refused") {
    for (double keep : {0.0, -0.1, 1.1, 1e-12, std::nan("")}) {
        CHECK(suites::unlike(errc::invalid_argument, {"keep is", "expected a share"}, [&] { at(chorus::bernoulli_mask{keep}, 0, 10); }) == "");
        CHECK(suites::unlike(errc::invalid_argument, {"keep is", "expected a share"}, [&] { at(chorus::shuffled_chunks{keep}, 0, 10); }) == "");
        CHECK(suites::unlike(errc::invalid_argument, {"keep is", "expected a share"}, [&] { at(chorus::reshuffled_chunks{keep}, 0, 10); }) == "");
    }
}
