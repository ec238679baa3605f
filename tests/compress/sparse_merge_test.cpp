// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/compress/detail/sparse_merge.hpp"

#include "chorus/base/random.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

using chorus::detail::merge_add;

namespace {

using floats = std::vector<float>;

struct sparse {
    std::vector<std::uint32_t> indices;
    floats values;

    chorus::detail::sparse_entries view() const { return {indices, values}; }
    floats dense(std::size_t count) const {
        floats out(count);
        for (std::size_t i = 0; i < indices.size(); ++i) out[indices[i]] += values[i];
        return out;
    }
};

sparse drawn(std::size_t count, double share, std::uint64_t seed) {
    chorus::counter_random const random{seed};
    sparse made;
    for (std::size_t i = 0; i < count; ++i)
        if (random.unit(i) < share) {
            made.indices.push_back(static_cast<std::uint32_t>(i));
            made.values.push_back(static_cast<float>(random.below(i, 200)) - 100.5f);
        }
    return made;
}

sparse merged(sparse const& a, sparse const& b) {
    sparse sum{std::vector<std::uint32_t>(a.indices.size() + b.indices.size()), floats(a.values.size() + b.values.size())};
    std::size_t const many = merge_add(a.view(), b.view(), sum.indices.data(), sum.values.data());
    REQUIRE(many <= sum.indices.size());
    sum.indices.resize(many);
    sum.values.resize(many);
    return sum;
}

}  // namespace

TEST_CASE("CMP-11: sparse parts are added index by index, and a mean divides by the ranks, not by those who had the index") {
    sparse const sum = merged({{0, 3}, {1, 2}}, {{1, 3}, {7, 5}});
    CHECK(sum.dense(4) == floats{1, 7, 0, 7});
    floats mean = sum.dense(4);
    for (float& v : mean) v /= 2;
    CHECK(mean == floats{0.5f, 3.5f, 0, 3.5f});
}

TEST_CASE("the sum of two sparse vectors is sparse: ascending, each index once, and nothing is lost") {
    for (std::size_t count : {1u, 2u, 9u, 1000u})
        for (double left : {0.0, 0.1, 0.6, 1.0})
            for (double right : {0.0, 0.1, 0.6, 1.0}) {
                sparse const a = drawn(count, left, 1), b = drawn(count, right, 2), sum = merged(a, b);
                floats expected = a.dense(count);
                floats const other = b.dense(count);
                std::size_t held = 0;
                for (std::size_t i = 0; i < count; ++i) {
                    held += expected[i] != 0 || other[i] != 0;  // values are halves: none is 0
                    expected[i] += other[i];
                }
                bool const is_sum = sum.dense(count) == expected;
                CHECK(is_sum);
                CHECK(sum.indices.size() == held);
                for (std::size_t i = 1; i < held; ++i) REQUIRE(sum.indices[i - 1] < sum.indices[i]);
            }
}

TEST_CASE("what one side alone holds keeps its bits, what cancels stays an entry") {
    sparse const sum = merged({{0, 2}, {-0.0f, 5}}, {{1, 2}, {std::numeric_limits<float>::quiet_NaN(), -5}});
    CHECK(sum.indices == std::vector<std::uint32_t>{0, 1, 2});
    CHECK(std::signbit(sum.values[0]));
    CHECK(std::isnan(sum.values[1]));
    CHECK(sum.values[2] == 0);
}
