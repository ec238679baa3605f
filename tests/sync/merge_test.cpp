// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/sync/merge.hpp"

#include "chorus/sync/elastic.hpp"
#include "chorus/sync/half_way.hpp"
#include "chorus/sync/keep_progress.hpp"
#include "chorus/sync/outer_step.hpp"
#include "chorus/sync/stale_gradient.hpp"
#include "chorus/sync/take_arrived.hpp"

#include <vector>

#include <doctest/doctest.h>

namespace {

/// With no delay, equal values on all ranks and their own average, nothing moves.
template <class Merge>
std::vector<double> merged_with_itself(Merge const& rule) {
    std::vector<double> w{1.5, -2, 0.25}, kept(Merge::kept_copies * 3);
    if constexpr (chorus::beginning_merge<Merge, double>) rule.begin(std::span<double const>{w}, std::span{kept});
    std::vector<double> const average = w;
    rule.merge(chorus::arrival<double>{w, average, w, kept, 4, 0});
    return w;
}

}  // namespace

TEST_CASE("replicas that agree stay where they are, by every merge") {
    std::vector<double> const same{1.5, -2, 0.25};
    CHECK(merged_with_itself(chorus::take_arrived{}) == same);
    CHECK(merged_with_itself(chorus::stale_gradient{}) == same);
    CHECK(merged_with_itself(chorus::keep_progress{}) == same);
    CHECK(merged_with_itself(chorus::half_way{}) == same);
    CHECK(merged_with_itself(chorus::elastic{}) == same);
    CHECK(merged_with_itself(chorus::outer_step<>{}) == same);
}

TEST_CASE("an arrival is late when what was sent lies elsewhere") {
    std::vector<float> current(2), sent(2);
    CHECK_FALSE(chorus::arrival<float>{current, sent, current, {}}.is_late());
    CHECK(chorus::arrival<float>{current, sent, sent, {}}.is_late());
}
