// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_reduce.hpp"

#include "suites/all_reduced.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

using namespace chorus;
using namespace suites;

namespace {

/// Both signs, magnitudes over 12 decades.
double wild(counter_random const& random, std::uint64_t counter) {
    double const magnitude = std::pow(10.0, 12 * random.unit(2 * counter) - 6);
    return random.bits(2 * counter + 1) % 2 == 0 ? magnitude : -magnitude;
}

template <class T> per_rank<T> wild_inputs(rank_id size, std::size_t count) {
    per_rank<T> inputs(size);
    for (rank_id r = 0; r < size; ++r) {
        counter_random const random{size, r};
        for (std::size_t i = 0; i < count; ++i)
            inputs[r].push_back(static_cast<T>(static_cast<float>(wild(random, i))));
    }
    return inputs;
}

}  // namespace

TEST_CASE_TEMPLATE("DET-1: a sum of wild numbers has the same bits on all ranks, and again", T, float, bfloat16) {
    for (rank_id p = 2; p <= 9; ++p)
        for (std::size_t count : {1u, 17u, 4099u}) {
            auto const inputs = wild_inputs<T>(p, count);
            if (p > 2 && count > 17) {  // these numbers tell one order of ranks from another
                per_rank<T> rotated = inputs;
                std::rotate(rotated.begin(), rotated.begin() + 1, rotated.end());
                any_algorithm const by{recursive_doubling{}};
                CHECK(!are_same<T>({all_reduced(inputs, sum{}, by)[0], all_reduced(rotated, sum{}, by)[0]}));
            }
            for (chosen const& by : algorithms_for(collective::all_reduce)) {
                auto const outputs = all_reduced(inputs, sum{}, by, 0, p);
                CHECK_MESSAGE(are_same(outputs), name_of(by), " p=", p, " count ", count);
                if (count > 17) continue;
                bool const same_again = are_same<T>({outputs[0], all_reduced(inputs, sum{}, by, 1, p + 1)[0]});
                CHECK_MESSAGE(same_again, name_of(by), " p=", p, " count ", count);
            }
        }
}

TEST_CASE_TEMPLATE("DET-2: direct and all_pairs give the same bits for a vector at once and in parts", T, float,
                   bfloat16) {
    constexpr rank_id size = 4;
    constexpr std::size_t count = 4096;
    auto inputs = wild_inputs<T>(size, count);
    auto const at_once = all_reduced(inputs, sum{}, any_algorithm{direct{}});
    CHECK(are_same(at_once));
    CHECK(are_same<T>({at_once[0], all_reduced(inputs, sum{}, any_algorithm{all_pairs{}})[0]}));
    for (any_algorithm const& by : {any_algorithm{direct{}}, any_algorithm{all_pairs{}}})
        for (std::size_t part : {std::size_t{1024}, std::size_t{1}}) {
            INFO(by.describe(), " in parts of ", part);
            simulated_network network{size};
            per_rank<T> outputs(size, std::vector<T>(count));
            std::vector<plan> plans;
            for (rank_id r = 0; r < size; ++r)
                plans.push_back(plan_all_reduce(group{network.endpoint(r)}, std::span{inputs[r]}.first(part),
                                                std::span{outputs[r]}.first(part), sum{}, by));
            for (std::size_t begin = 0; begin < count; begin += part) {
                std::vector<plan*> addresses;
                for (rank_id r = 0; r < size; ++r) {
                    plans[r].rebind(inputs[r].data() + begin, outputs[r].data() + begin);
                    plans[r].start();
                    addresses.push_back(&plans[r]);
                }
                REQUIRE(drive(addresses) == progress::done);
            }
            CHECK(are_same(outputs));
            CHECK(is_same(outputs[0], at_once[0]));
        }
}

TEST_CASE("DET-5: a sum of one array over any number of ranks is within its error bound") {
    constexpr std::size_t count = 1000;
    std::vector<float> const all = wild_inputs<float>(1, count)[0];
    double const exact = std::accumulate(all.begin(), all.end(), 0.0);
    double magnitude = 0;
    for (float x : all) magnitude += std::fabs(double{x});
    double const bound = count * double{std::numeric_limits<float>::epsilon()} * magnitude;
    for (rank_id p : {1u, 2u, 3u, 5u, 7u}) {
        blocks const cut = blocks::near_equal(count, p);
        per_rank<float> inputs;
        for (rank_id r = 0; r < p; ++r) {
            auto const begin = all.begin() + static_cast<std::ptrdiff_t>(cut.begin(r));
            inputs.push_back({std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(cut.length(r)), 0.0f)});
        }
        for (chosen const& by : algorithms_for(collective::all_reduce)) {
            auto const outputs = all_reduced(inputs, sum{}, by);
            CHECK(are_same(outputs));
            CHECK_MESSAGE(std::fabs(double{outputs[0][0]} - exact) <= bound, name_of(by), " p=", p);
        }
    }
}
