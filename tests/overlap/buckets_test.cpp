// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/overlap/buckets.hpp"

#include "chorus/base/random.hpp"
#include "suites/expected_error.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using chorus::bucket_layout;
using chorus::errc;

namespace {

std::vector<std::size_t> drawn_counts(chorus::counter_random const& random, std::size_t tensors) {
    std::vector<std::size_t> counts(tensors);
    for (std::size_t i = 0; i < tensors; ++i) counts[i] = static_cast<std::size_t>(random.below(i, 12));
    return counts;
}

}  // namespace

TEST_CASE("every tensor is in one bucket, the last in the first; none is larger than allowed that could be two, and no two that follow would fit in one") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        std::vector<std::size_t> const counts = drawn_counts(chorus::counter_random{seed}, seed % 23);
        for (std::size_t largest : {std::size_t{0}, std::size_t{1}, std::size_t{10}, std::size_t{25}, std::size_t{1000}}) {
            bucket_layout const layout = bucket_layout::of(counts, largest);
            std::size_t end = counts.size();
            for (std::size_t b = 0; b < layout.buckets.size(); ++b) {
                auto const [first, last, count] = layout.buckets[b];
                REQUIRE((last == end && first < last));
                end = first;
                REQUIRE(count == std::accumulate(counts.begin() + static_cast<std::ptrdiff_t>(first), counts.begin() + static_cast<std::ptrdiff_t>(last), std::size_t{0}));
                REQUIRE((count <= largest || last - first == 1));
                if (b > 0) REQUIRE(layout.buckets[b - 1].count + counts[last - 1] > largest);
                for (std::size_t tensor = first; tensor < last; ++tensor) REQUIRE(layout.of_tensor(tensor) == b);
            }
            REQUIRE(end == 0);
        }
    }
}

TEST_CASE("what is packed comes back at its place, in any order of readiness, step after step; neighbours in memory are not copied") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        chorus::counter_random const random{seed};
        std::vector<std::size_t> const counts = drawn_counts(random, 1 + seed % 17);
        std::vector<float> memory(500, -1.0f);
        std::vector<std::span<float>> tensors;
        std::size_t at = 0;
        bool const is_joined = seed % 3 == 0;
        for (std::size_t i = 0; i < counts.size(); ++i) {
            tensors.push_back(std::span{memory}.subspan(at, counts[i]));
            at += counts[i] + (is_joined ? 0 : static_cast<std::size_t>(random.below(100 + i, 3)));
        }
        chorus::buckets<float> packed{tensors, 20 * sizeof(float)};
        for (int step = 0; step < 3; ++step) {
            float number = 0;
            for (std::span<float> tensor : tensors)
                for (float& x : tensor) x = ++number;
            std::vector<std::size_t> order(counts.size());
            std::iota(order.begin(), order.end(), std::size_t{0});
            for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[static_cast<std::size_t>(random.below(200 + i, i))]);
            std::vector<std::size_t> missing, full;
            for (auto const& b : packed.layout().buckets) missing.push_back(b.last - b.first);
            for (std::size_t tensor : order) {
                auto const complete = packed.ready(tensor);
                std::size_t const b = packed.layout().of_tensor(tensor);
                REQUIRE(complete.has_value() == (--missing[b] == 0));
                if (complete) full.push_back(*complete);
            }
            REQUIRE(full.size() == packed.size());
            for (std::size_t b : full) {
                auto const [first, last, count] = packed.layout().buckets[b];
                REQUIRE(packed[b].size() == count);
                if (is_joined) REQUIRE(packed.is_view(b));
                std::size_t place = 0;
                for (std::size_t tensor = first; tensor < last; ++tensor)
                    for (float const& x : tensors[tensor]) {
                        REQUIRE(packed[b][place] == x);
                        REQUIRE((&packed[b][place] == &x) == packed.is_view(b));
                        ++place;
                    }
                for (float& x : packed[b]) x *= 2;
                packed.unpack(b);
            }
            number = 0;
            for (std::span<float> tensor : tensors)
                for (float const x : tensor) REQUIRE(x == 2 * ++number);
        }
        for (std::size_t i = 0, used = 0; i < memory.size(); ++i) {
            for (std::span<float> tensor : tensors) used += tensor.data() <= &memory[i] && &memory[i] < tensor.data() + tensor.size();
            if (used == 0) REQUIRE(memory[i] == -1.0f);
            used = 0;
        }
    }
}

TEST_CASE("what is asked wrongly is refused by name") {
    std::vector<double> memory(10), other(4);
    chorus::buckets<double> packed{{std::span{memory}, std::span{other}}};
    auto refuses = [](std::initializer_list<std::string_view> words, auto const& call) { CHECK(suites::unlike(errc::invalid_argument, words, call) == ""); };
    refuses({"tensor 2 of 2"}, [&] { packed.ready(2); });
    refuses({"bucket 0 lacks 2 tensors"}, [&] { packed.unpack(0); });
    CHECK(!packed.ready(1));
    refuses({"tensor 1 is ready twice"}, [&] { packed.ready(1); });
    CHECK(packed.ready(0) == 0);
    chorus::buckets<double> moved = std::move(packed);
    moved.unpack(0);
    refuses({"tensors 0 and 1 overlap"}, [&] { chorus::buckets<double>{{std::span{memory}.first(6), std::span{memory}.subspan(5)}}; });
    chorus::buckets<double> const none{{}};
    CHECK(none.size() == 0);
}
