// SPDX-License-Identifier: MIT
// SPDX-FileCopyrightText: 2026 the chorus authors
//
// Every built-in (operation, element) pair, on every instruction set of the machine, against one element at a time.
#include "chorus/base/random.hpp"
#include "chorus/data/reduce_block.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace chorus;
using detail::instruction_set;

namespace {

/// A pair with its types forgotten and a plain loop for each of the two functions to compare with.
struct pair_case {
    reducer made[3];
    reducer::function apply;
    reducer::fold_function fold;
    void (*fill)(std::byte* to, std::size_t count, std::uint64_t seed);
    bool (*same)(std::byte const* a, std::byte const* b, std::size_t count);
};

constexpr std::size_t guard = 64;

/// Memory at `offset` bytes past an aligned address with guard bytes around it.
class guarded {
 public:
    guarded(std::size_t bytes, std::size_t offset) : memory_(bytes + offset + 3 * guard, std::byte{0xA5}) {
        std::size_t const address = reinterpret_cast<std::uintptr_t>(memory_.data());
        begin_ = guard + (guard - address % guard) % guard + offset;
        bytes_ = bytes;
    }
    std::byte* data() { return memory_.data() + begin_; }
    bool is_intact() const {
        for (std::size_t i = 0; i < memory_.size(); ++i)
            if ((i < begin_ || i >= begin_ + bytes_) && memory_[i] != std::byte{0xA5}) return false;
        return true;
    }

 private:
    std::vector<std::byte> memory_;
    std::size_t begin_ = 0;
    std::size_t bytes_ = 0;
};

template <class T> T drawn(std::uint64_t random) {
    if constexpr (std::is_same_v<T, bool>) return (random & 1u) != 0;
    else if constexpr (detail::integer<T>) return static_cast<T>(random % 5 == 0 ? 0 : random >> 8);
    else {
        using limits = std::numeric_limits<T>;
        T const special[] = {T(0.0f), T(-0.0f), limits::infinity(), limits::quiet_NaN(), limits::denorm_min(),
                             (limits::max)(), limits::lowest(), T(1.0f)};
        if (random % 4 == 0) return special[(random >> 8) % 8];
        if (random % 4 == 1) return T(static_cast<float>((random >> 8) % 2001) - 1000.0f);
        return detail::load_element<T>(reinterpret_cast<std::byte const*>(&random));
    }
}

template <class T> void fill(std::byte* to, std::size_t count, std::uint64_t seed) {
    counter_random const random{seed};
    for (std::size_t i = 0; i < count; ++i) detail::store_element(to + i * sizeof(T), drawn<T>(random.bits(i)));
}

/// The same bytes, but the payload of a NaN is free: which operand's payload a processor keeps depends on their order.
template <class T> bool same(std::byte const* a, std::byte const* b, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        std::byte const* const x = a + i * sizeof(T);
        std::byte const* const y = b + i * sizeof(T);
        if (std::memcmp(x, y, sizeof(T)) == 0) continue;
        if constexpr (detail::integer<T> || std::is_same_v<T, bool>) return false;
        else {
            T const p = detail::load_element<T>(x), q = detail::load_element<T>(y);
            if (p == p || q == q) return false;
        }
    }
    return true;
}

template <class T, class Op> pair_case pair_of() {
    pair_case made{};
    for (int level = 0; level < 3; ++level)
        made.made[level] = make_reducer<T>(Op{}, static_cast<instruction_set>(level));
    made.apply = [](std::byte* out, std::byte const* left, std::byte const* right, std::size_t count, void const*) {
        for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T))
            detail::store_element(out + at,
                                  Op{}(detail::load_element<T>(left + at), detail::load_element<T>(right + at)));
    };
    made.fold = [](std::byte* out, std::byte const* const* inputs, std::size_t many, std::size_t count, void const*) {
        for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
            auto total = static_cast<wide_t<T>>(detail::load_element<T>(inputs[0] + at));
            for (std::size_t i = 1; i < many; ++i)
                total = Op{}(total, static_cast<wide_t<T>>(detail::load_element<T>(inputs[i] + at)));
            detail::store_element(out + at, static_cast<T>(total));
        }
    };
    made.fill = &fill<T>;
    made.same = &same<T>;
    return made;
}

void check_apply(pair_case const& pair, reducer const& made, std::size_t count, std::size_t left_offset,
                 std::size_t right_offset) {
    std::size_t const size = made.element_bytes;
    guarded left{count * size, left_offset}, right{count * size, right_offset}, out{count * size, left_offset / 2 + 3};
    std::vector<std::byte> expected(count * size + 1);
    pair.fill(left.data(), count, 1 + count);
    pair.fill(right.data(), count, 2 + count);
    pair.apply(expected.data(), left.data(), right.data(), count, nullptr);
    made.apply(out.data(), left.data(), right.data(), count, nullptr);
    REQUIRE(pair.same(out.data(), expected.data(), count));
    guarded again{count * size, right_offset};
    std::memcpy(again.data(), left.data(), count * size);
    made.apply(again.data(), again.data(), right.data(), count, nullptr);
    REQUIRE(pair.same(again.data(), expected.data(), count));
    made.apply(right.data(), left.data(), right.data(), count, nullptr);
    REQUIRE(pair.same(right.data(), expected.data(), count));
    REQUIRE((left.is_intact() && right.is_intact() && out.is_intact() && again.is_intact()));
}

void check_fold(pair_case const& pair, reducer const& made, std::size_t count, std::size_t many) {
    std::size_t const size = made.element_bytes;
    std::vector<guarded> inputs;
    std::vector<std::byte const*> addresses;
    for (std::size_t i = 0; i < many; ++i) {
        inputs.emplace_back(count * size, (7 * i) % 64);
        pair.fill(inputs[i].data(), count, 11 * i + count);
        addresses.push_back(inputs[i].data());
    }
    guarded out{count * size, 5};
    std::vector<std::byte> expected(count * size + 1);
    pair.fold(expected.data(), addresses.data(), many, count, nullptr);
    made.fold(out.data(), addresses.data(), many, count, nullptr);
    REQUIRE((many == 1 || pair.same(out.data(), expected.data(), count)));
    REQUIRE((many != 1 || count == 0 || std::memcmp(out.data(), addresses[0], count * size) == 0));
    std::size_t const place = count % many;
    made.fold(inputs[place].data(), addresses.data(), many, count, nullptr);
    REQUIRE((many == 1 || pair.same(inputs[place].data(), expected.data(), count)));
    for (guarded const& input : inputs) REQUIRE(input.is_intact());
    REQUIRE(out.is_intact());
}

template <class T, class... Op> void check_all() {
    for (pair_case const& pair : {pair_of<T, Op>()...})
        for (int level = 0; level <= static_cast<int>(detail::widest_instruction_set()); ++level) {
            reducer const& made = pair.made[level];
            std::string const what = std::string{to_string(static_cast<instruction_set>(level))} + ' ' +
                                     std::string{made.element} + ' ' + std::string{made.operation};
            CAPTURE(what);
            for (std::size_t count = 0; count <= 70; ++count)
                check_apply(pair, made, count, made.element_bytes * (count % 9), made.element_bytes * (count % 7) + 1);
            for (std::size_t count : {127u, 128u, 255u, 256u, 257u, 513u, 1031u}) check_apply(pair, made, count, 1, 2);
            for (std::size_t many = 1; many <= 5; ++many)
                for (std::size_t count : {0u, 1u, 2u, 7u, 15u, 16u, 17u, 33u, 64u, 129u, 519u})
                    check_fold(pair, made, count, many);
        }
}

template <class T> void check_numbers() {
    check_all<T, sum, product, minimum, maximum, logical_and, logical_or, logical_xor>();
}
template <class T> void check_bits() { check_all<T, bit_and, bit_or, bit_xor>(); }

}  // namespace

TEST_CASE_TEMPLATE("HET-3 NAN-1 DTY-1 DTY-2: numbers have the same bits on every instruction set", T, float, double,
                   half, bfloat16, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t, std::uint32_t,
                   std::int64_t, std::uint64_t) {
    check_numbers<T>();
}

TEST_CASE_TEMPLATE("HET-3: bits are the same on every instruction set", T, bool, std::int8_t, std::uint16_t,
                   std::int32_t, std::uint64_t) {
    check_bits<T>();
}

TEST_CASE("DTY-5: logical operations of bool store 0 or 1") { check_all<bool, logical_and, logical_or, logical_xor>(); }

TEST_CASE("half and bfloat16: vectors convert every pattern as single elements do") {
    std::vector<std::uint16_t> patterns(0x10000), zeros(0x10000, 0x8000);  // x + -0 = x
    for (std::uint32_t i = 0; i < 0x10000u; ++i) patterns[i] = static_cast<std::uint16_t>(i);
    auto check = [&]<class T>(T) {
        for (int level = 0; level <= static_cast<int>(detail::widest_instruction_set()); ++level) {
            std::vector<std::uint16_t> out(0x10000);
            make_reducer<T>(sum{}, static_cast<instruction_set>(level))
                .apply(reinterpret_cast<std::byte*>(out.data()), reinterpret_cast<std::byte const*>(patterns.data()),
                       reinterpret_cast<std::byte const*>(zeros.data()), out.size(), nullptr);
            for (std::uint32_t i = 0; i < 0x10000u; ++i)
                REQUIRE(out[i] == T{float{T::from_bits(patterns[i])}}.bits());
        }
    };
    check(half{});
    check(bfloat16{});
}
