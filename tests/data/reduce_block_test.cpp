// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
#include "chorus/data/reduce_block.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

using namespace chorus;
using detail::instruction_set;

namespace {

template <class Check> void on_every_level(Check const& check) {
    for (int level = 0; level <= static_cast<int>(detail::widest_instruction_set()); ++level)
        check(static_cast<instruction_set>(level));
}

template <class T> std::byte* bytes(std::vector<T>& v) { return reinterpret_cast<std::byte*>(v.data()); }

/// What an engine does over the ranks of a group: prepare, fold (or apply in rank order), finish.
template <class T, class Op>
std::vector<T> reduced(Op const& op, std::vector<std::vector<T>> ranks, instruction_set level, bool folded) {
    reducer const made = make_reducer<T>(op, level);
    std::size_t const count = ranks[0].size();
    std::vector<std::vector<std::byte>> carried;
    std::vector<std::byte const*> addresses;
    for (std::vector<T>& rank : ranks) {
        std::vector<std::byte>& buffer = carried.emplace_back(count * made.carrier_bytes);
        if (made.prepare != nullptr) made.prepare(buffer.data(), bytes(rank), count, ranks.size());
        else std::memcpy(buffer.data(), rank.data(), buffer.size());
    }
    for (std::vector<std::byte> const& buffer : carried) addresses.push_back(buffer.data());
    std::byte* const first = carried[0].data();
    if (folded) made.fold(first, addresses.data(), ranks.size(), count, made.op.get());
    else
        for (std::size_t r = 1; r < ranks.size(); ++r) made.apply(first, first, addresses[r], count, made.op.get());
    std::vector<T> result(count);
    if (made.finish != nullptr) made.finish(bytes(result), first, count, ranks.size());
    else std::memcpy(result.data(), first, carried[0].size());
    return result;
}

template <class T, class Op, class Check>
void check_reduced(Op const& op, std::vector<std::vector<T>> const& ranks, Check const& check) {
    on_every_level([&](instruction_set level) {
        for (bool folded : {false, true})
            for (T value : reduced(op, ranks, level, folded)) check(value);
    });
}

template <class T> std::vector<std::vector<T>> of_values(std::vector<T> const& values, std::size_t count) {
    std::vector<std::vector<T>> ranks;
    for (T value : values) ranks.emplace_back(count, value);
    return ranks;
}

struct pair_of_words {
    std::uint32_t low, high;
};
struct without_default {
    explicit without_default(int v) : value{v} {}
    int value;
};

}  // namespace

TEST_CASE("NUM-1: a fold of bfloat16 keeps small addends, whichever rank holds the large one") {
    for (std::size_t count : {1u, 1031u})
        for (std::size_t holder = 0; holder < 4; ++holder) {
            std::vector<bfloat16> values(4, bfloat16{1.0f});
            values[holder] = bfloat16{256.0f};
            on_every_level([&](instruction_set level) {
                // 259 lies half way between 258 and 260, the neighbours that bfloat16 has; 260 is the even one
                for (bfloat16 v : reduced(sum{}, of_values(values, count), level, true)) REQUIRE(float{v} == 260.0f);
            });
        }
}

TEST_CASE("NUM-2: the mean of halves whose sum is beyond half is finite, their sum infinite") {
    for (std::size_t count : {1u, 5u, 4097u}) {
        auto const ranks = of_values(std::vector<half>(4, half{20000.0f}), count);
        check_reduced(mean{}, ranks, [](half v) { REQUIRE(float{v} == 20000.0f); });
        check_reduced(sum{}, ranks, [](half v) { REQUIRE(v == std::numeric_limits<half>::infinity()); });
    }
}

TEST_CASE_TEMPLATE("NUM-4: the mean of extremes is the extreme", T, std::int8_t, std::uint8_t, std::int16_t,
                   std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t) {
    for (std::size_t p = 1; p <= 17; ++p)
        for (T value : {(std::numeric_limits<T>::max)(), std::numeric_limits<T>::lowest()})
            check_reduced(mean{}, of_values(std::vector<T>(p, value), 37), [&](T v) { REQUIRE(v == value); });
}

TEST_CASE_TEMPLATE("NUM-4: the mean of huge floats is finite and exact where their sum would not be", T, float, double,
                   half, bfloat16) {
    using wide = wide_t<T>;
    wide const huge = std::ldexp(wide{1}, std::numeric_limits<T>::max_exponent - 1);
    for (std::size_t p = 1; p <= 17; ++p)
        for (T value : {T(huge), T(-huge)})
            check_reduced(mean{}, of_values(std::vector<T>(p, value), 37), [&](T v) { REQUIRE(v == value); });
}

TEST_CASE_TEMPLATE("DTY-3: means of integers truncate toward zero", T, std::int8_t, std::int16_t, std::int32_t,
                   std::int64_t) {
    auto check = [](std::vector<T> const& values, T expected) {
        check_reduced(mean{}, of_values(values, 35), [&](T v) { REQUIRE(v == expected); });
    };
    check({12, 12, 12, 12}, 12);
    check({1, 2, 3, 5}, 2);
    check({-1, -2, -3, -5}, -2);
    for (int a = -7; a <= 7; ++a)
        for (int b = -7; b <= 7; ++b)
            check({static_cast<T>(a), static_cast<T>(b), T{1}}, static_cast<T>((a + b + 1) / 3));
}

TEST_CASE_TEMPLATE("mean: every size gives the correctly rounded quotient of an exact sum", T, float, double, half,
                   bfloat16) {
    for (std::size_t p = 1; p <= 17; ++p) {
        std::vector<T> values;
        int total = 0;
        for (std::size_t r = 0; r < p; ++r) {
            int const value = static_cast<int>((r * 7) % 11) - 4;
            values.push_back(T(static_cast<wide_t<T>>(value)));
            total += value;
        }
        using wide = wide_t<T>;
        T const expected = T(static_cast<wide>(total) / static_cast<wide>(p));
        check_reduced(mean{}, of_values(values, 70), [&](T v) { REQUIRE(v == expected); });
    }
}

TEST_CASE("mean: the ends work in place where the sizes allow it") {
    std::vector<float> values(100);
    std::iota(values.begin(), values.end(), 0.0f);
    on_every_level([&](instruction_set level) {
        for (std::uint64_t p : {1u, 2u, 3u, 4u, 7u}) {
            reducer const made = make_reducer<float>(mean{}, level);
            std::vector<float> buffer = values;
            made.prepare(bytes(buffer), bytes(buffer), buffer.size(), p);
            for (std::size_t i = 0; i < buffer.size(); ++i) {
                REQUIRE(buffer[i] * static_cast<float>(std::bit_ceil(p)) == values[i]);
                buffer[i] *= static_cast<float>(p);
            }
            made.finish(bytes(buffer), bytes(buffer), buffer.size(), p);
            REQUIRE(buffer == values);
        }
    });
}

TEST_CASE_TEMPLATE("NUM-6: the sign of a zero extreme does not depend on the rank that holds -0", T, float, double,
                   half, bfloat16) {
    for (std::size_t holder = 0; holder < 4; ++holder) {
        std::vector<T> values(4, T(0.0f));
        values[holder] = T(-0.0f);
        auto sign = [](T v) { return std::signbit(static_cast<wide_t<T>>(v)); };
        check_reduced(minimum{}, of_values(values, 33), [&](T v) { REQUIRE(sign(v)); });
        check_reduced(maximum{}, of_values(values, 33), [&](T v) { REQUIRE_FALSE(sign(v)); });
    }
}

TEST_CASE_TEMPLATE("NAN-1: a NaN wins minimum and maximum in every order, with the same bits", T, float, double, half,
                   bfloat16) {
    using wide = wide_t<T>;
    T const nan = std::numeric_limits<T>::quiet_NaN();
    std::vector<int> order{0, 1, 2, 3};
    do {
        std::vector<T> const known{T(wide{1}), nan, T(wide{3}), T(wide{4})};
        std::vector<T> values;
        for (int place : order) values.push_back(known[static_cast<std::size_t>(place)]);
        auto check = [&](T v) { REQUIRE(std::memcmp(&v, &nan, sizeof(T)) == 0); };
        for (std::size_t count : {1u, 33u}) {
            check_reduced(minimum{}, of_values(values, count), check);
            check_reduced(maximum{}, of_values(values, count), check);
        }
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST_CASE("DTY-1: small integers wrap at every count and start") {
    auto check = []<class T>(T a, T b, T expected) {
        on_every_level([&](instruction_set level) {
            for (std::size_t count = 1; count <= 70; ++count)
                for (std::size_t start : {0u, 1u, 3u}) {
                    std::vector<T> left(count + start, a), right(count + start, b);
                    std::size_t const skip = start * sizeof(T);
                    make_reducer<T>(sum{}, level)
                        .apply(bytes(left) + skip, bytes(left) + skip, bytes(right) + skip, count, nullptr);
                    for (std::size_t i = 0; i < left.size(); ++i) REQUIRE(left[i] == (i < start ? a : expected));
                }
        });
    };
    check(std::int16_t{16384}, std::int16_t{16384}, std::int16_t{-32768});
    check(std::uint8_t{200}, std::uint8_t{100}, std::uint8_t{44});
    check(std::int8_t{120}, std::int8_t{100}, std::int8_t{-36});
}

TEST_CASE_TEMPLATE("DTY-2: unsigned extremes compare as unsigned", T, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t) {
    T const top = (std::numeric_limits<T>::max)();
    auto const ranks = of_values(std::vector<T>{top, top, 0, top}, 67);
    check_reduced(minimum{}, ranks, [](T v) { REQUIRE(v == 0); });
    check_reduced(maximum{}, ranks, [&](T v) { REQUIRE(v == top); });
}

TEST_CASE("DTY-5: bool stores exactly 0 and 1, whatever the bytes were") {
    on_every_level([](instruction_set level) {
        std::vector<std::uint8_t> left(256), right(256, 6), out(256);
        std::iota(left.begin(), left.end(), std::uint8_t{0});
        auto apply = [&](reducer const& made) {
            made.apply(bytes(out), bytes(left), bytes(right), out.size(), nullptr);
            return made.operation;
        };
        CHECK(apply(make_reducer<bool>(bit_and{}, level)) == "bit_and");
        for (std::size_t i = 0; i < 256; ++i) REQUIRE(out[i] == (i != 0 ? 1 : 0));
        CHECK(apply(make_reducer<bool>(logical_or{}, level)) == "logical_or");
        for (std::uint8_t v : out) REQUIRE(v == 1);
        CHECK(apply(make_reducer<bool>(bit_xor{}, level)) == "bit_xor");
        for (std::size_t i = 0; i < 256; ++i) REQUIRE(out[i] == (i != 0 ? 0 : 1));
    });
}

TEST_CASE("ALN-1: float at all pairs of element-aligned starts") {
    on_every_level([](instruction_set level) {
        reducer const made = make_reducer<float>(sum{}, level);
        for (std::size_t count = 8; count <= 40; ++count)
            for (std::size_t from = 1; from <= 7; ++from)
                for (std::size_t to = 1; to <= 7; ++to) {
                    std::vector<float> target(64, 1.0f), source(64);
                    std::iota(source.begin(), source.end(), 0.0f);
                    std::byte* const out = bytes(target) + 4 * to;
                    made.apply(out, out, bytes(source) + 4 * from, count, nullptr);
                    for (std::size_t i = 0; i < 64; ++i) {
                        bool const inside = i >= to && i < to + count;
                        REQUIRE(target[i] == (inside ? 1.0f + static_cast<float>(from + i - to) : 1.0f));
                    }
                }
    });
}

TEST_CASE_TEMPLATE("ALN-2: 16-bit elements at odd starts, neighbours untouched", T, half, bfloat16) {
    on_every_level([](instruction_set level) {
        for (std::size_t count : {1u, 3u, 7u, 1031u})
            for (std::size_t from : {1u, 2u}) {
                std::vector<T> target(count + 2, T(2.0f)), source(count + 3, T(3.0f));
                make_reducer<T>(product{}, level)
                    .apply(bytes(target) + 2, bytes(target) + 2, bytes(source) + 2 * from, count, nullptr);
                REQUIRE((target.front() == T(2.0f) && target.back() == T(2.0f)));
                for (std::size_t i = 1; i <= count; ++i) REQUIRE(target[i] == T(6.0f));
            }
    });
}

TEST_CASE("ALN-4: bytes of every size from 1 to 513") {
    on_every_level([](instruction_set level) {
        for (std::size_t size = 1; size <= 513; ++size) {
            std::vector<std::vector<std::uint8_t>> ranks(3, std::vector<std::uint8_t>(size));
            for (std::size_t r = 0; r < 3; ++r)
                for (std::size_t i = 0; i < size; ++i) ranks[r][i] = static_cast<std::uint8_t>(i * (r + 1));
            for (bool folded : {false, true}) {
                auto const result = reduced(sum{}, ranks, level, folded);
                for (std::size_t i = 0; i < size; ++i) REQUIRE(result[i] == static_cast<std::uint8_t>(6 * i));
            }
        }
    });
}

TEST_CASE("a user's function keeps its state and its order, on any trivially copyable element") {
    std::uint32_t scale = 10;
    auto append = [scale](pair_of_words a, pair_of_words b) {
        return pair_of_words{a.low * scale + b.low, a.high + b.high};
    };
    reducer const made = make_reducer<pair_of_words>(append);
    CHECK(made.op != nullptr);
    CHECK_FALSE(made.is_commutative);
    CHECK(made.operation == "user");
    CHECK(made.element == "user");
    CHECK(made.carrier_bytes == sizeof(pair_of_words));
    check_reduced(append, of_values(std::vector<pair_of_words>{{1, 1}, {2, 1}, {3, 1}}, 5), [](pair_of_words v) {
        REQUIRE(v.low == 123);
        REQUIRE(v.high == 3);
    });
    auto add = [](without_default a, without_default b) { return without_default{a.value + b.value}; };
    std::vector<without_default> left(3, without_default{4});
    std::vector<without_default> const right(3, without_default{5});
    reduce_block(add, std::span{left}, std::span{right});
    for (without_default v : left) CHECK(v.value == 9);
    CHECK(make_reducer<int>(commutative{[](int a, int b) { return a | b; }}).is_commutative);
}

TEST_CASE("classes with operators may be summed and multiplied") {
    using complex = std::complex<float>;
    check_reduced(sum{}, of_values(std::vector<complex>{{1, 2}, {3, -4}}, 9), [](complex v) {
        REQUIRE(v == complex{4, -2});
    });
    check_reduced(product{}, of_values(std::vector<complex>{{0, 1}, {0, 1}}, 9), [](complex v) {
        REQUIRE(v == complex{-1, 0});
    });
    check_reduced(sum{}, of_values(std::vector<long double>{1, 2}, 9), [](long double v) { REQUIRE(v == 3); });
}

TEST_CASE("reducers say what they are") {
    reducer const made = make_reducer<half>(mean{});
    CHECK(made.op == nullptr);
    CHECK(made.is_commutative);
    CHECK(made.operation == "mean");
    CHECK(made.element == "half");
    CHECK(made.element_bytes == 2);
    CHECK(made.carrier_bytes == 4);
    CHECK((made.prepare != nullptr && made.finish != nullptr));
    CHECK((make_reducer<half>(sum{}).prepare == nullptr && make_reducer<half>(sum{}).finish == nullptr));
}

TEST_CASE("reduce_block refuses spans of different lengths and takes empty ones") {
    std::vector<float> three(3), two(2);
    CHECK_THROWS_AS(reduce_block(sum{}, std::span<float>{three}, std::span<float const>{two}), error);
    reduce_block(sum{}, std::span<float>{}, std::span<float const>{});
}

TEST_CASE("the instruction set can be lowered, never raised above the machine's") {
    instruction_set const before = detail::current_instruction_set();
    CHECK(detail::force_instruction_set(instruction_set::baseline) == instruction_set::baseline);
    CHECK((make_reducer<float>(sum{}).apply == make_reducer<float>(sum{}, instruction_set::baseline).apply));
    CHECK(detail::force_instruction_set(instruction_set::avx512) == detail::widest_instruction_set());
    detail::force_instruction_set(before);
}
