// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/collective/all_reduce.hpp"

#include "suites/all_reduced.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

using namespace chorus;
using namespace suites;

namespace {

std::vector<chosen> const every_algorithm = algorithms_for(collective::all_reduce);

/// Rank r's vector is `count` times value(r).
template <class T> per_rank<T> constant(std::vector<T> const& values, std::size_t count) {
    per_rank<T> inputs;
    for (T value : values) inputs.emplace_back(count, value);
    return inputs;
}

template <class T, class Op>
void check_all(std::vector<T> const& values, Op const& op, T expected,
               std::vector<std::size_t> const& counts = {1, 5}) {
    for (chosen const& by : every_algorithm)
        for (std::size_t count : counts) {
            bool const right = are_all(all_reduced(constant(values, count), op, by), expected);
            CHECK_MESSAGE(right, name_of(by), " ", std::string{element_name<T>()}, " count ", count);
        }
}

}  // namespace

TEST_CASE(
    "NUM-1: a bfloat16 sum of one large and three small numbers is the same on all ranks; exact where all fold at "
    "once") {
    for (chosen const& by : every_algorithm)
        for (std::size_t count : {1u, 1031u})
            for (std::size_t large = 0; large < 4; ++large) {
                INFO(name_of(by), " count ", count, " large on ", large);
                std::vector<bfloat16> values(4, bfloat16{1});
                values[large] = bfloat16{256};
                auto const outputs = all_reduced(constant(values, count), sum{}, by);
                CHECK(are_same(outputs));
                bool const in_range = std::all_of(outputs[0].begin(), outputs[0].end(),
                                                  [](bfloat16 x) { return float{x} >= 256 && float{x} <= 260; });
                CHECK(in_range);
                if (by && (by->name() == direct::name || by->name() == all_pairs::name))
                    CHECK(are_all(outputs, bfloat16{260}));
            }
}

TEST_CASE("NUM-2: the mean of half numbers is finite where their sum is not") {
    std::vector<half> const values(4, half{20000});
    check_all(values, mean{}, half{20000}, {1, 5, 4097});
    check_all(values, sum{}, std::numeric_limits<half>::infinity());
}

TEST_CASE("NUM-4: the mean of the largest integers does not wrap") {
    check_all<std::int32_t>({2147483647, 2147483647}, mean{}, 2147483647);
    check_all<std::uint32_t>({4294967295u, 4294967295u}, mean{}, 4294967295u);
}

TEST_CASE("NUM-6: minimum and maximum over zeros of both signs do not depend on who holds which") {
    for (std::size_t negative = 0; negative < 4; ++negative) {
        std::vector<float> values(4, 0.0f);
        values[negative] = -0.0f;
        check_all(values, minimum{}, -0.0f);
        check_all(values, maximum{}, 0.0f);
    }
}

TEST_CASE("DTY-1: sums of small integers wrap, whatever the count and the start") {
    auto const wraps = [](auto a, auto b, auto expected) {
        using T = decltype(a);
        for (chosen const& by : every_algorithm)
            for (std::size_t count = 1; count <= 70; ++count) {
                bool const right = are_all(all_reduced(constant<T>({a, b}, count), sum{}, by, count % 4), expected);
                if (!right) FAIL_CHECK(name_of(by), " ", std::string{element_name<T>()}, " count ", count);
            }
    };
    wraps(std::int16_t{16384}, std::int16_t{16384}, std::int16_t{-32768});
    wraps(std::uint8_t{200}, std::uint8_t{100}, std::uint8_t{44});
    wraps(std::int8_t{120}, std::int8_t{100}, std::int8_t{-36});
}

TEST_CASE("ALN-4: every size of 1 to 513 bytes, three ranks") {
    for (std::size_t count = 1; count <= 513; ++count) {
        per_rank<std::uint8_t> inputs(3, std::vector<std::uint8_t>(count));
        std::vector<std::uint8_t> expected(count);
        for (std::size_t r = 0; r < 3; ++r)
            for (std::size_t i = 0; i < count; ++i) {
                inputs[r][i] = static_cast<std::uint8_t>(r * 89 + i * 7);
                expected[i] = static_cast<std::uint8_t>(expected[i] + inputs[r][i]);
            }
        chosen const& by = every_algorithm[count % every_algorithm.size()];
        bool right = true;
        for (auto const& output : all_reduced(inputs, sum{}, by, count % 3)) right = right && is_same(output, expected);
        CHECK_MESSAGE(right, name_of(by), " count ", count);
    }
}

TEST_CASE("DTY-2: the least and greatest of unsigned numbers") {
    auto const unsigned_order = [](auto zero) {
        using T = decltype(zero);
        T const most = (std::numeric_limits<T>::max)();
        check_all<T>({most, most, zero, most}, minimum{}, zero);
        check_all<T>({most, most, zero, most}, maximum{}, most);
    };
    unsigned_order(std::uint8_t{});
    unsigned_order(std::uint16_t{});
    unsigned_order(std::uint32_t{});
    unsigned_order(std::uint64_t{});
}

TEST_CASE("DTY-3: the mean of integers truncates toward zero") {
    check_all<std::int32_t>({12, 12, 12, 12}, mean{}, 12);
    check_all<std::int32_t>({1, 2, 3, 5}, mean{}, 2);
    check_all<std::int32_t>({-1, -2, -3, -5}, mean{}, -2);
}

TEST_CASE_TEMPLATE("NAN-1: minimum and maximum with a NaN are NaN, whoever holds it", T, float, double) {
    T const nan = std::numeric_limits<T>::quiet_NaN();
    std::vector<int> order{0, 1, 2, 3};
    do {
        std::vector<T> values;
        for (int which : order)
            values.push_back(std::vector<T>{T{1}, nan, T{3}, T{4}}[static_cast<std::size_t>(which)]);
        check_all(values, minimum{}, nan, {1, 33});
        check_all(values, maximum{}, nan, {1, 33});
    } while (std::next_permutation(order.begin(), order.end()));
}
