// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors

#include "../../bench/gradients.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <span>
#include <vector>

using bench::call_shape;
using bench::gradients;
using chorus::collective;

namespace {

constexpr bench::element_kind single{"float", 4, nullptr, nullptr, nullptr};

std::span<float> floats(std::span<std::byte> memory) { return {reinterpret_cast<float*>(memory.data()), memory.size() / sizeof(float)}; }

}  // namespace

TEST_CASE("the error of a sum is that of its elements, beyond the bound all of it is wrong, and its bits have a digest") {
    call_shape const shape{.what = collective::all_reduce, .ranks = 3, .element = &single, .count = 100};
    std::vector<std::unique_ptr<gradients>> ranks;
    for (chorus::rank_id r = 0; r < 3; ++r) ranks.push_back(std::make_unique<gradients>(shape, r, 0.01));
    for (auto& each : ranks) each->fill(0);
    CHECK(ranks[0]->count_wrong(0) == 100);  // nothing has been written yet
    for (auto& each : ranks)
        for (std::size_t i = 0; i < 100; ++i) {
            double sum = 0;
            for (auto& other : ranks) sum += floats(other->input())[i];
            floats(each->output())[i] = static_cast<float>(sum);
        }
    for (auto& each : ranks) {
        CHECK(each->count_wrong(0) == 0);
        CHECK(each->error() == 0);
        CHECK(each->digest() == ranks[0]->digest());
    }
    for (float& x : floats(ranks[1]->output())) x *= 1.001f;
    CHECK(ranks[1]->count_wrong(0) == 0);
    CHECK(ranks[1]->error() == doctest::Approx(0.001).epsilon(0.01));
    CHECK(ranks[1]->digest() != ranks[0]->digest());
    for (float& x : floats(ranks[2]->output())) x *= 2;
    CHECK(ranks[2]->count_wrong(0) == 100);
}

TEST_CASE("each rank and place has its own value, and no result is looked for where there is none") {
    CHECK(gradients::value(0, 0) != gradients::value(1, 0));
    CHECK(gradients::value(0, 0) != gradients::value(0, 1));
    gradients leaf{{.what = collective::reduce, .ranks = 2, .root = 0, .element = &single, .count = 10}, 1};
    leaf.fill(0);
    CHECK(leaf.output().empty());
    CHECK(leaf.count_wrong(0) == 0);
    CHECK(leaf.error() == 0);
}
